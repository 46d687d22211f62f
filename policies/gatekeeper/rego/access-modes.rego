# Judged are claims, PersistentVolumes, Pods and everything that makes pods. Read of them are access modes and classes, the
# kind of a volume's source, and the images of CSI sidecars.
package placementguardaccessmodes

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.items
import data.lib.placement_guard.part
import data.lib.placement_guard_pods as pods

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere(pods.kinds | {claim, volume})

untouched if placement_guard.same(judged(placement_guard.old), judged(placement_guard.new))

claim := {"group": "", "kind": "PersistentVolumeClaim"}

volume := {"group": "", "kind": "PersistentVolume"}

default key := null

key := placement_guard.key(
	"accessModes",
	judged(placement_guard.old),
	judged(placement_guard.new),
	object.union(
		{"name": placement_guard.name | placement_guard.kind == volume},
		{
			# Entries of `singleWriter` name namespaces.
			"namespace": get(input.review, "namespace"),
			# Claims that a controller makes of a template were judged with the template.
			"userInfo": placement_guard.user,
		},
	),
)

judged(whole) := claimed(whole) if placement_guard.kind == claim

judged(whole) := sourced(whole) if placement_guard.kind == volume

judged(whole) := pods.placed(placement_guard.kind, used(pods.of(placement_guard.kind, whole))) if {
	placement_guard.kind in pods.kinds - {pods.stateful_set}
}

judged(whole) := {"spec": {
	"template": used(pods.of(pods.stateful_set, whole)),
	"volumeClaimTemplates": [claimed(given) | some given in items(get(get(whole, "spec"), "volumeClaimTemplates"))],
}} if {
	placement_guard.kind == pods.stateful_set
}

claimed(given) := {
	"metadata": object.union_n([
		part(get(given, "metadata"), ["name", "generateName"]),
		{"annotations": part(
			get(get(given, "metadata"), "annotations"),
			["volume.beta.kubernetes.io/storage-class"],
		)},
		{"ownerReferences": owners(given)},
	]),
	"spec": part(get(given, "spec"), ["accessModes", "storageClassName"]),
}

# Owners are looked at in an audit alone, where nobody is known to have made the claim.
owners(given) := [part(owner, ["apiVersion", "kind", "controller"]) |
	not placement_guard.user.username
	some owner in items(get(get(given, "metadata"), "ownerReferences"))
]

beside_sources := {"capacity", "claimRef", "nodeAffinity"}

# A volume of any other mode is left alone. Its source is whatever else is an object; what is in it is not read.
sourced(given) := {"spec": object.union(
	{member: {} | some member, source in given.spec; is_object(source); not member in beside_sources},
	{"accessModes": given.spec.accessModes},
)} if {
	"ReadWriteOncePod" in given.spec.accessModes
} else := {}

# Lists keep their lengths, since messages name positions in them.
used(pod) := {"spec": {
	"volumes": positions([volume_of(given) | some given in items(get(get(pod, "spec"), "volumes"))]),
	"initContainers": sidecars(pod, "initContainers"),
	"containers": sidecars(pod, "containers"),
	"ephemeralContainers": sidecars(pod, "ephemeralContainers"),
}}

# The claim of a generic ephemeral volume.
volume_of(given) := {
	"name": get(given, "name"),
	"ephemeral": {"volumeClaimTemplate": claimed(given.ephemeral.volumeClaimTemplate)},
} if {
	given.ephemeral.volumeClaimTemplate != null
} else := {}

sidecars(pod, list) := positions([sidecar(given) | some given in items(get(get(pod, "spec"), list))])

# All sidecars of CSI have a name that begins so.
sidecar(given) := part(given, ["name", "image"]) if {
	input.parameters.csiSidecars
	contains(given.image, "csi-")
} else := {}

# A list in which nothing stands is none.
positions(list) := list if {
	some entry in list
	entry != {}
} else := []
