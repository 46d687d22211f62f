# This rule judges Bindings, and Pods that are created. It reads which node a pod gets, and which claims it uses. Where the
# parameters ask for it, it also reads the node selector and the required node affinity of a Pod without a node.
package placementguardvolumebinding

import data.lib.placement_guard
import data.lib.placement_guard.get
import data.lib.placement_guard.items
import data.lib.placement_guard.part

violation contains placement_guard.refusal(key) if {
	not untouched
	not placement_guard.allows(key)
}

untouched if {
	placement_guard.elsewhere({binding, pod})
	not binds
}

# The node and the volumes of a pod do not change.
untouched if placement_guard.operation == "UPDATE"

# A pod without claims, and a pod that has ended.
untouched if {
	placement_guard.kind == pod
	not uses_claims
}

untouched if {
	placement_guard.kind == pod
	get(get(placement_guard.new, "status"), "phase") in {"Succeeded", "Failed"}
}

# The scheduler will choose the node.
untouched if {
	placement_guard.kind == pod
	get(get(placement_guard.new, "spec"), "nodeName") in {null, ""}
	not judges_together
}

binding := {"group": "", "kind": "Binding"}

pod := {"group": "", "kind": "Pod"}

# `pods/binding`, also when its kind cannot be read. The old resource `bindings` has no sub-resource.
binds if {
	placement_guard.operation == "CREATE"
	input.review.subResource == "binding"
	not is_of_another_kind
}

is_of_another_kind if {
	is_string(placement_guard.kind.kind)
	placement_guard.kind != binding
}

uses_claims if {
	some given in items(get(get(placement_guard.new, "spec"), "volumes"))
	not is_plain(given)
}

is_plain(given) if {
	is_object(given)
	get(given, "persistentVolumeClaim") == null
	get(given, "ephemeral") == null
}

judges_together if input.parameters.unreachableTogether in {"deny", "warn"}

default key := null

# The answer depends on the cluster, so each question is asked only once.
key := placement_guard.key("volumeBinding", {}, judged(placement_guard.new), {
	"name": placement_guard.name,
	"namespace": get(input.review, "namespace"),
	"uid": input.review.uid,
})

judged(whole) := {
	"metadata": {"labels": part(
		get(get(whole, "metadata"), "labels"),
		["topology.kubernetes.io/region", "topology.kubernetes.io/zone"],
	)},
	"target": part(get(whole, "target"), ["kind", "name"]),
} if {
	placement_guard.kind == binding
}

judged(whole) := {
	# The claim of an ephemeral volume belongs to the pod with this UID.
	"metadata": part(get(whole, "metadata"), ["uid"]),
	"spec": object.union_n([
		part(get(whole, "spec"), ["nodeName"]),
		{"volumes": [claimed(given) | some given in items(get(get(whole, "spec"), "volumes"))]},
		{member: value | judges_together; some member, value in limits(get(whole, "spec"))},
	]),
} if {
	placement_guard.kind == pod
}

claimed(given) := {
	"name": get(given, "name"),
	"persistentVolumeClaim": part(get(given, "persistentVolumeClaim"), ["claimName"]),
	"ephemeral": ephemeral(get(given, "ephemeral")),
} if not is_plain(given)

claimed(given) := {} if is_plain(given)

ephemeral(given) := {"volumeClaimTemplate": {
	"metadata": {"annotations": part(
		get(get(get(given, "volumeClaimTemplate"), "metadata"), "annotations"),
		["volume.beta.kubernetes.io/storage-class"],
	)},
	"spec": part(get(get(given, "volumeClaimTemplate"), "spec"), ["storageClassName"]),
}} if given != null

ephemeral(null) := null

limits(spec) := {
	"nodeSelector": get(spec, "nodeSelector"),
	"affinity": {"nodeAffinity": part(
		get(get(spec, "affinity"), "nodeAffinity"),
		["requiredDuringSchedulingIgnoredDuringExecution"],
	)},
}
