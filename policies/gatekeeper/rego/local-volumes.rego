# This rule judges PersistentVolumes, StorageClasses, Pods with their ephemeral containers, and every workload. It reads
# which paths of a node they use, how containers mount these, and to which node a volume is pinned.
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

untouched if placement_guard.same(before, after)

before := judged(placement_guard.old)

after := judged(placement_guard.new)

volume := {"group": "", "kind": "PersistentVolume"}

class := {"group": "storage.k8s.io", "kind": "StorageClass"}

# Ephemeral containers may mount the volumes of their pod. A sub-resource stores them.
stores_ephemeral_containers if {
	placement_guard.kind == pods.itself
	placement_guard.operation in {"CREATE", "UPDATE"}
	input.review.subResource == "ephemeralcontainers"
}

default key := null

key := placement_guard.key("localVolumes", before, after, object.union_n([
	{"name": placement_guard.name | placement_guard.kind in {volume, class}},
	{"userInfo": object.union(placement_guard.user, {"extra": bound}) | is_bound},
	{"userInfo": placement_guard.user | is_mirror(pod)},
]))

judged(whole) := {"metadata": labelled(whole), "spec": object.union_n([
	{"local": part(get(get(whole, "spec"), "local"), ["path"]) | has(get(whole, "spec"), "local")},
	{"hostPath": path(get(whole, "spec")) | has(get(whole, "spec"), "hostPath")},
	{"nodeAffinity": get(get(whole, "spec"), "nodeAffinity")},
	{"storageClassName": get(get(whole, "spec"), "storageClassName")},
	# A requester that is bound to a node may change nothing in the spec of another node's volume.
	{member: value | is_bound; some member, value in whole.spec},
])} if {
	placement_guard.kind == volume
	lives_on_node(get(whole, "spec"))
}

judged(whole) := {} if {
	placement_guard.kind == volume
	not lives_on_node(get(whole, "spec"))
}

judged(whole) := part(whole, ["provisioner", "volumeBindingMode"]) if {
	placement_guard.kind == class
	get(whole, "provisioner") in {"kubernetes.io/no-provisioner"} | {name | some name in items(get(input.parameters, "provisioners"))}
} else := {} if {
	placement_guard.kind == class
}

judged(whole) := pods.placed(placement_guard.kind, mounting(pods.of(placement_guard.kind, whole))) if {
	placement_guard.kind in pods.kinds
}

has(given, member) if get(given, member) != null

lives_on_node(spec) if has(spec, "local")

lives_on_node(spec) if has(spec, "hostPath")

# The annotation that used to name the class. A requester that is bound to a node may also not change which provisioner owns a
# volume of another node, or where that volume is.
labelled(whole) := {
	"annotations": part(get(get(whole, "metadata"), "annotations"), annotations),
	"labels": part(get(get(whole, "metadata"), "labels"), labels),
}

annotations := {"volume.beta.kubernetes.io/storage-class"} | {"pv.kubernetes.io/provisioned-by" | is_bound}

labels := {label |
	is_bound
	some label in {
		"pv.kubernetes.io/provisioned-by",
		"failure-domain.beta.kubernetes.io/region",
		"failure-domain.beta.kubernetes.io/zone",
		"topology.kubernetes.io/region",
		"topology.kubernetes.io/zone",
	}
}

# Credentials that are bound to a node: those of its kubelet, and those of a provisioner that runs on each node.
is_bound if {
	input.parameters.ownNodeOnly
	placement_guard.kind == volume
	bound != {}
}

is_bound if {
	input.parameters.ownNodeOnly
	placement_guard.kind == volume
	"system:nodes" in placement_guard.user.groups
}

bound := part(get(get(input.review, "userInfo"), "extra"), ["authentication.kubernetes.io/node-name"])

pod := pods.of(placement_guard.kind, placement_guard.new)

# A mirror pod shows a static pod that runs already. Only a node may make one, so the requester is part of the question.
is_mirror(given) if {
	placement_guard.kind == pods.itself
	has(get(get(given, "metadata"), "annotations"), "kubernetes.io/config.mirror")
}

# Most pods have no `hostPath` volume, and there is nothing to ask about them. Both lists are made once: a template that
# looked at every volume for each container would take longer than the webhook waits.
mounting(given) := {"metadata": mirrored(given), "spec": {
	"volumes": volumes,
	"initContainers": containers(given, "initContainers"),
	"containers": containers(given, "containers"),
	"ephemeralContainers": containers(given, "ephemeralContainers"),
}} if {
	# The list keeps its length, because messages name positions in it.
	volumes := [host_path(each) | some each in items(get(get(given, "spec"), "volumes"))]
	volumes != [{} | some _ in volumes]
} else := {}

host_path(given) := {"name": get(given, "name"), "hostPath": path(given)} if has(given, "hostPath")

host_path(given) := {} if not has(given, "hostPath")

path(given) := part(get(given, "hostPath"), ["path", "type"])

containers(given, list) := [{"name": get(container, "name"), "volumeMounts": mounts(container)} |
	some container in items(get(get(given, "spec"), list))
]

mounts(container) := [part(mount, ["name", "readOnly", "recursiveReadOnly", "mountPropagation"]) |
	some mount in items(get(container, "volumeMounts"))
]

mirrored(given) := {
	"annotations": part(get(get(given, "metadata"), "annotations"), ["kubernetes.io/config.mirror"]),
	"ownerReferences": placement_guard.owners_in_audit(get(given, "metadata")),
} if {
	is_mirror(given)
} else := {}
