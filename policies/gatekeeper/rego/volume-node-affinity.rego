# This rule judges PersistentVolumes. It reads their node affinity, their zone and region labels, and what decides how the
# scheduler reads both: whether the source is an in-tree one, and whether a provisioner made the volume.
package placementguardvolumenodeaffinity

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.part

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere({{"group": "", "kind": "PersistentVolume"}})

# Kubernetes also updates a volume when it binds it, and whenever its phase changes.
untouched if placement_guard.same(before, after)

before := judged(placement_guard.old)

after := judged(placement_guard.new)

default key := null

key := placement_guard.key(
	"volumeNodeAffinity",
	with_claim(before, placement_guard.old),
	with_claim(after, placement_guard.new),
	{"name": placement_guard.name},
)

# The claim to which a volume is bound says which pods use it. It is asked about with an edit, and is no edit by itself.
with_claim(judged, volume) := object.union(judged, {"spec": {"claimRef": claim}}) if {
	placement_guard.reads_cluster
	claim := part(get(get(volume, "spec"), "claimRef"), ["name", "namespace"])
	claim != {}
} else := judged

judged(volume) := {
	"metadata": {
		"annotations": part(get(get(volume, "metadata"), "annotations"), ["pv.kubernetes.io/provisioned-by"]),
		"labels": part(get(get(volume, "metadata"), "labels"), [
			"failure-domain.beta.kubernetes.io/region",
			"failure-domain.beta.kubernetes.io/zone",
			"topology.kubernetes.io/region",
			"topology.kubernetes.io/zone",
		]),
	},
	"spec": read(get(volume, "spec")),
}

# What an in-tree source contains does not matter, and it differs between volumes.
read(spec) := object.union(
	part(spec, ["nodeAffinity"]),
	{source: part(spec[source], []) |
		some source in {"awsElasticBlockStore", "cinder", "gcePersistentDisk"}
		spec[source] != null
	},
) if is_object(spec)

read(spec) := part(spec, []) if not is_object(spec)
