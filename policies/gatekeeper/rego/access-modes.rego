# This rule judges claims, PersistentVolumes, Pods and every workload. It reads access modes and classes, which kind of source
# a volume has, and the images of CSI sidecars.
package placementguardaccessmodes

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.integer
import data.lib.placement_guard.items
import data.lib.placement_guard.part
import data.lib.placement_guard_pods as pods

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere(pods.kinds | {claim, volume})

untouched if placement_guard.same(before, after)

before := judged(placement_guard.old)

after := judged(placement_guard.new)

claim := {"group": "", "kind": "PersistentVolumeClaim"}

volume := {"group": "", "kind": "PersistentVolume"}

default key := null

key := placement_guard.key(
	"accessModes",
	before,
	after,
	object.union(
		{"name": placement_guard.name | is_named},
		{
			# Entries of `singleWriter` name namespaces.
			"namespace": get(input.review, "namespace"),
			# The rule judges a claim template. It does not judge the claims that a controller makes from it.
			"userInfo": placement_guard.user,
		},
	),
)

is_named if placement_guard.kind == volume

is_named if reads_shared_claims

judged(whole) := claimed(whole) if placement_guard.kind == claim

judged(whole) := sourced(whole) if placement_guard.kind == volume

judged(whole) := object.union(
	pods.placed(placement_guard.kind, used(pods.of(placement_guard.kind, whole))),
	counted(whole),
) if {
	placement_guard.kind in pods.kinds - {pods.stateful_set}
}

judged(whole) := object.union(counted(whole), {"spec": {
	"template": used(pods.of(pods.stateful_set, whole)),
	"volumeClaimTemplates": [claimed(given) | some given in items(get(get(whole, "spec"), "volumeClaimTemplates"))],
}}) if {
	placement_guard.kind == pods.stateful_set
}

reads_shared_claims if {
	input.parameters.sharedClaims in {"deny", "warn"}
	placement_guard.kind in pods.kinds
}

# How many pods use a claim at the same time, and which of two pods goes first.
counted(whole) := {"spec": {"jobTemplate": {"spec": counts(get(get(get(whole, "spec"), "jobTemplate"), "spec"))}}} if {
	reads_shared_claims
	placement_guard.kind == pods.cron_job
} else := {"spec": counts(get(whole, "spec"))} if {
	reads_shared_claims
} else := {}

counts(spec) := object.union(
	{member: integer(value) |
		some member in {"replicas", "parallelism", "completions", "priority"}
		value := spec[member]
		value != null
	},
	{"strategy": object.union(
		part(get(spec, "strategy"), ["type"]),
		{"rollingUpdate": part(get(get(spec, "strategy"), "rollingUpdate"), ["maxSurge"])},
	) | has_strategy(spec)},
)

has_strategy(spec) if get(spec, "strategy") != null

claimed(given) := {
	"metadata": object.union_n([
		part(get(given, "metadata"), ["name", "generateName"]),
		{"annotations": part(
			get(get(given, "metadata"), "annotations"),
			["volume.beta.kubernetes.io/storage-class"],
		)},
		{"ownerReferences": placement_guard.owners_in_audit(get(given, "metadata"))},
	]),
	"spec": part(get(given, "spec"), ["accessModes", "storageClassName"]),
}

beside_sources := {"capacity", "claimRef", "nodeAffinity"}

# The rule ignores volumes without `ReadWriteOncePod`. The source is any other object in the spec. The rule reads its name and
# not its content.
sourced(given) := {"spec": object.union(
	{member: {} | some member, source in given.spec; is_object(source); not member in beside_sources},
	{"accessModes": given.spec.accessModes},
)} if {
	"ReadWriteOncePod" in given.spec.accessModes
} else := {}

# Lists keep their lengths, because messages name positions in them.
used(pod) := {"spec": {
	"volumes": positions([volume_of(given) | some given in items(get(get(pod, "spec"), "volumes"))]),
	"initContainers": sidecars(pod, "initContainers"),
	"containers": sidecars(pod, "containers"),
	"ephemeralContainers": sidecars(pod, "ephemeralContainers"),
}}

# The claim of a generic ephemeral volume, or the name of a claim.
volume_of(given) := {
	"name": get(given, "name"),
	"ephemeral": {"volumeClaimTemplate": claimed(given.ephemeral.volumeClaimTemplate)},
} if {
	given.ephemeral.volumeClaimTemplate != null
} else := {
	"name": get(given, "name"),
	"persistentVolumeClaim": part(given.persistentVolumeClaim, ["claimName"]),
} if {
	reads_shared_claims
	given.persistentVolumeClaim != null
} else := {}

sidecars(pod, list) := positions([sidecar(given) | some given in items(get(get(pod, "spec"), list))])

sidecar(given) := part(given, ["name", "image"]) if {
	input.parameters.csiSidecars
	may_be_sidecar(given.image)
} else := {}

# The image of every CSI sidecar has one of these in its name.
may_be_sidecar(image) if contains(image, "csi-")

may_be_sidecar(image) if contains(image, "external-")

# A list without any content is an empty list.
positions(list) := list if list != [{} | some _ in list]

positions(list) := [] if list == [{} | some _ in list]
