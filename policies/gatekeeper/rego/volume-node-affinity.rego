# Judged are PersistentVolumes. Read of them are their node affinity and their zone and region labels.
package placementguardvolumenodeaffinity

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.part

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere({{"group": "", "kind": "PersistentVolume"}})

# Binding a volume, and every step of its phase, is an update too.
untouched if placement_guard.same(judged(placement_guard.old), judged(placement_guard.new))

default key := null

key := placement_guard.key(
	"volumeNodeAffinity",
	judged(placement_guard.old),
	judged(placement_guard.new),
	{"name": placement_guard.name},
)

judged(volume) := {
	"metadata": {"labels": part(get(get(volume, "metadata"), "labels"), [
		"failure-domain.beta.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone",
		"topology.kubernetes.io/region",
		"topology.kubernetes.io/zone",
	])},
	"spec": part(get(volume, "spec"), ["nodeAffinity"]),
}
