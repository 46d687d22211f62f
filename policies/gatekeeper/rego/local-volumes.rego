# Judged are PersistentVolumes, StorageClasses, Pods with their ephemeral containers, and everything that makes pods. Read
# of them are paths of nodes, who mounts them, and to which node a local volume is pinned.
package placementguardlocalvolumes

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.items
import data.lib.placement_guard.part
import data.lib.placement_guard_pods as pods

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if {
	placement_guard.elsewhere(pods.kinds | {volume, class})
	not stores_ephemeral_containers
}

untouched if placement_guard.same(judged(placement_guard.old), judged(placement_guard.new))

volume := {"group": "", "kind": "PersistentVolume"}

class := {"group": "storage.k8s.io", "kind": "StorageClass"}

# Ephemeral containers may mount what the pod has, and are stored through a sub-resource.
stores_ephemeral_containers if {
	placement_guard.kind == pods.itself
	placement_guard.operation in {"CREATE", "UPDATE"}
	input.review.subResource == "ephemeralcontainers"
}

default key := null

key := placement_guard.key(
	"localVolumes",
	judged(placement_guard.old),
	judged(placement_guard.new),
	object.union_n([
		{"name": placement_guard.name | placement_guard.kind in {volume, class}},
		{"subResource": "ephemeralcontainers" | stores_ephemeral_containers},
		{"userInfo": object.union(placement_guard.user, {"extra": bound}) | is_bound},
	]),
)

judged(whole) := {"spec": object.union_n([
	{"local": part(get(get(whole, "spec"), "local"), ["path"]) | is_local(whole)},
	{"nodeAffinity": get(get(whole, "spec"), "nodeAffinity") | is_local(whole)},
	{"hostPath": part(get(get(whole, "spec"), "hostPath"), ["path"]) | has_host_path(get(whole, "spec"))},
	# A requester that is bound to a node may change nothing in the spec of another node's volume.
	{member: value | is_bound; is_local(whole); some member, value in whole.spec},
])} if {
	placement_guard.kind == volume
}

judged(whole) := part(whole, ["provisioner", "volumeBindingMode"]) if {
	placement_guard.kind == class
	get(whole, "provisioner") == "kubernetes.io/no-provisioner"
} else := {} if {
	placement_guard.kind == class
}

judged(whole) := pods.placed(placement_guard.kind, mounting(pods.of(placement_guard.kind, whole))) if {
	placement_guard.kind in pods.kinds
}

is_local(whole) if get(get(whole, "spec"), "local") != null

has_host_path(given) if get(given, "hostPath") != null

# Credentials that are bound to a node, as those of a provisioner on each node are.
is_bound if {
	input.parameters.ownNodeOnly
	bound != {}
}

bound := part(get(get(input.review, "userInfo"), "extra"), ["authentication.kubernetes.io/node-name"])

mounting(pod) := {"spec": {
	"volumes": [entry |
		some given in items(get(get(pod, "spec"), "volumes"))
		has_any(pod)
		entry := host_path(given)
	],
	"initContainers": containers(pod, "initContainers"),
	"containers": containers(pod, "containers"),
	"ephemeralContainers": containers(pod, "ephemeralContainers"),
}}

has_any(pod) if {
	some given in items(get(get(pod, "spec"), "volumes"))
	has_host_path(given)
}

# The list keeps its length, since messages name positions in it.
host_path(given) := {"name": get(given, "name"), "hostPath": part(get(given, "hostPath"), ["path"])} if {
	has_host_path(given)
} else := {}

containers(pod, list) := [{"name": get(container, "name"), "volumeMounts": mounts} |
	has_any(pod)
	some container in items(get(get(pod, "spec"), list))
	mounts := [part(mount, ["name", "readOnly"]) | some mount in items(get(container, "volumeMounts"))]
]
