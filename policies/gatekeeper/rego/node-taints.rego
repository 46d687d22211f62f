# Judged are Nodes. Read of them are their taints.
package placementguardnodetaints

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.items
import data.lib.placement_guard.part

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if placement_guard.elsewhere({{"group": "", "kind": "Node"}})

# Kubelets update their nodes all the time, and taints seldom change.
untouched if placement_guard.same(judged(placement_guard.old), judged(placement_guard.new))

default key := null

key := placement_guard.key(
	"nodeTaints",
	judged(placement_guard.old),
	judged(placement_guard.new),
	{"name": placement_guard.name},
)

judged(node) := {"spec": {"taints": [taint |
	some given in items(get(get(node, "spec"), "taints"))
	taint := part(given, ["key", "value", "effect"])
]}}
