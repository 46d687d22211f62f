# This rule judges Nodes. It reads their taints.
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

# Kubelets update their nodes all the time, but taints rarely change.
untouched if placement_guard.same(before, after)

before := judged(placement_guard.old)

after := judged(placement_guard.new)

default key := null

key := placement_guard.key("nodeTaints", before, after, {"name": placement_guard.name})

judged(node) := {"spec": {"taints": [taint |
	some given in items(get(get(node, "spec"), "taints"))
	taint := part(given, ["key", "value", "effect"])
]}}
