# This rule judges Pods and every workload. It reads their tolerations, and what shows which tolerations Kubernetes itself
# added.
package placementguardtolerations

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

untouched if placement_guard.elsewhere(pods.kinds)

untouched if {
	placement_guard.same(tolerations(before), tolerations(after))
	node_name(after) == {}
}

before := pods.of(placement_guard.kind, placement_guard.old)

after := pods.of(placement_guard.kind, placement_guard.new)

default key := null

key := placement_guard.key(
	"tolerations",
	pods.placed(placement_guard.kind, {"spec": object.union_n([
		node_name(before),
		placement(before, ["nodeName"]),
		{"tolerations": tolerations(before)},
	])}),
	pods.placed(placement_guard.kind, judged),
	# Kubernetes adds tolerations for the DaemonSet controller, and only nodes make mirror pods.
	{"userInfo": placement_guard.user},
)

judged := {
	"metadata": {
		"annotations": part(get(get(after, "metadata"), "annotations"), ["kubernetes.io/config.mirror"]),
		"ownerReferences": owners,
	},
	"spec": object.union_n([part(get(after, "spec"), ["hostNetwork"]), node_name(after), wishes, {
		"tolerations": tolerations(after),
		"containers": extended_resources("containers"),
		"initContainers": extended_resources("initContainers"),
	}]),
}

# Where the pod asks to run, apart from its tolerations.
wishes := object.union(
	placement(after, ["nodeName", "nodeSelector"]),
	{"affinity": {"nodeAffinity": part(
		get(get(get(after, "spec"), "affinity"), "nodeAffinity"),
		["requiredDuringSchedulingIgnoredDuringExecution"],
	)} | reads_nodes},
)

placement(pod, members) := part(get(pod, "spec"), members) if reads_nodes

placement(_, _) := {} if not reads_nodes

reads_nodes if input.parameters.attraction == "warn"

# A pod that names its node reaches taints without tolerating them. The scheduler names the node of a pod that runs already,
# so the name matters only if somebody writes it: an audit of Pods does not read it, and neither does an UPDATE that keeps it.
node_name(pod) := part(get(pod, "spec"), ["nodeName"]) if not keeps_node

node_name(_) := {} if keeps_node

keeps_node if {
	placement_guard.kind == pods.itself
	placement_guard.operation == "CREATE"
	not placement_guard.user.username
}

keeps_node if {
	placement_guard.operation == "UPDATE"
	placement_guard.knows_old
	get(get(before, "spec"), "nodeName") == get(get(after, "spec"), "nodeName")
}

# Owners prove something only if it is not known who made the pod, or if all controllers share one account.
owners := placement_guard.owners(get(after, "metadata")) if {
	placement_guard.user.username == "system:kube-controller-manager"
} else := placement_guard.owners_in_audit(get(after, "metadata"))

# Kubernetes adds a toleration to a pod that requests a resource such as `nvidia.com/gpu`: the resource is its key.
extended_resources(list) := [{"resources": {"requests": requests, "limits": limits}} |
	some container in items(get(get(after, "spec"), list))
	requests := extended(get(get(container, "resources"), "requests"))
	limits := extended(get(get(container, "resources"), "limits"))
	{} != object.union(requests, limits)
]

extended(amounts) := {resource: amount | some resource, amount in amounts; contains(resource, "/")} if is_object(amounts)

extended(amounts) := part(amounts, []) if not is_object(amounts)

tolerations(pod) := [toleration(given) | some given in items(get(get(pod, "spec"), "tolerations"))]

toleration(given) := object.union(
	part(given, ["key", "operator", "value", "effect"]),
	{"tolerationSeconds": integer(seconds) | seconds := given.tolerationSeconds; seconds != null},
) if is_object(given)

toleration(given) := given if not is_object(given)
