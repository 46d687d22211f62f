# What all templates share: when they ask the provider, what they ask it, and which answer lets a request pass.
package lib.placement_guard

# A judged request passes in one way only: the provider gives a well-formed answer to exactly this key, and the answer says
# yes. Anything else refuses the request: no answer, `null`, a wrong shape, errors, missing items. The template does not read
# the HTTP status, because it is 0 when Gatekeeper answers from its cache.
allows(question) if {
	is_string(question)
	answer := answers(question)
	answer.system_error == ""
	count(answer.errors) == 0
	count(answer.responses) == 1
	answer.responses[0][0] == question
	answer.responses[0][1].allowed == true
}

# Why a request is refused. The essential part comes first, because the status of a constraint keeps only 256 bytes. The
# message is one line: the API server drops warnings with line breaks, so `enforcementAction: warn` would say nothing.
refusal(question) := {"msg": on_one_line(message), "details": object.remove(decision, ["allowed"])} if {
	response := answers(question).responses[0]
	response[0] == question
	decision := response[1]
	decision.allowed == false
	message := decision.message
	is_string(message)
} else := {"msg": concat(" ", ["placement-guard gave no decision, so the request is refused:", reason(question)])}

on_one_line(message) := replace(replace(message, "\n  ", "; "), "\n", "; ")

reason(question) := "the template cannot read the object" if {
	not is_string(question)
} else := error if {
	error := answers(question).system_error
	error != ""
} else := "provider `placement-guard` sent an answer that the template cannot read"

answers(question) := external_data({"provider": "placement-guard", "keys": [question]})

# The question as the provider reads it. `before`, `after` and `more` hold what the rule reads, and nothing else that varies,
# such as `managedFields`, `status`, `resourceVersion` and `uid`. Gatekeeper caches the answer to each key for three minutes,
# so it asks the same question only once. An answer that depends on the cluster may be another one a moment later, so such a
# question carries the `uid` of its request.
key(section, before, after, more) := json.marshal({
	"v": 1,
	"settings": {section: input.parameters},
	"request": object.union_n([
		request,
		{"object": after},
		{"oldObject": before | operation == "UPDATE"; knows_old},
		{"uid": input.review.uid | reads_cluster},
		more,
	]),
})

# Whether the parameters make the rule read the cluster.
reads_cluster if {
	some setting in [
		"attraction",
		"evictions",
		"missingNode",
		"overlap",
		"sharedClaims",
		"strandedVolumes",
		"whileInUse",
	]
	input.parameters[setting] in {"deny", "warn"}
}

reads_cluster if input.parameters.judgeBy == "liveNodes"

reads_cluster if input.parameters.topology.fromLiveNodes == true

reads_cluster if input.parameters.requireSettledVolumeAttributes == true

reads_cluster if is_object(input.parameters.rollout)

# The object that the request would store, and the object that is stored now. A CREATE and an audit have only the first.
new := input.review.object

old := input.review.oldObject if {
	operation == "UPDATE"
} else := {}

# Whether the request changes nothing that the rule reads. Nothing is known of an UPDATE without its old object.
same(before, after) if {
	before == after
	knows_old
}

knows_old if operation == "CREATE"

knows_old if {
	operation == "UPDATE"
	is_object(input.review.oldObject)
}

# An audit has no operation. It judges an existing object as if it were new.
operation := input.review.operation if {
	input.review.operation != ""
} else := "CREATE"

kind := {"group": group, "kind": input.review.kind.kind}

group := input.review.kind.group if {
	is_string(input.review.kind.group)
} else := ""

# The name. On a CREATE with a generated name, the object says it.
name := input.review.name if {
	input.review.name != ""
} else := input.review.object.metadata.name if {
	input.review.object.metadata.name != ""
} else := get(get(input.review.object, "metadata"), "generateName")

# Requests that no rule of these kinds judges, whatever they contain: other kinds, sub-resources, and requests that store
# nothing.
elsewhere(kinds) if {
	is_string(kind.kind)
	not kind in kinds
}

elsewhere(_) if operation in {"DELETE", "CONNECT"}

elsewhere(_) if is_subresource

is_subresource if {
	names_subresource
	not stores_labels
}

names_subresource if {
	is_string(input.review.subResource)
	input.review.subResource != ""
}

# A write of the status of a volume or of a claim also stores its labels and annotations. The API server keeps only the spec.
stores_labels if {
	kind in {{"group": "", "kind": "PersistentVolume"}, {"group": "", "kind": "PersistentVolumeClaim"}}
	input.review.subResource == "status"
}

# What every question contains. It names the namespace and the user only if `exempt` in the parameters does.
request := object.union_n([
	{"operation": operation, "kind": kind},
	{"subResource": input.review.subResource | names_subresource},
	{"namespace": input.review.namespace | input.parameters.exempt.namespaces},
	{"userInfo": user | names_users},
])

names_users if input.parameters.exempt.users

names_users if input.parameters.exempt.groups

# Who sent the request. Only groups that a rule reads are included: most people's lists are long, and no two are the same.
user := object.union(part(get(input.review, "userInfo"), ["username"]), {"groups": groups})

groups := [each | some each in items(get(get(input.review, "userInfo"), "groups")); each in read_groups]

read_groups := {"system:nodes"} | {each | some each in items(get(get(input.parameters, "exempt"), "groups"))}

# To which objects an object belongs.
owners(metadata) := [part(owner, ["apiVersion", "kind", "controller"]) |
	some owner in items(get(metadata, "ownerReferences"))
]

# Owners prove something only in an audit, where it is not known who made the object.
owners_in_audit(metadata) := owners(metadata) if not user.username

owners_in_audit(_) := [] if user.username

# Reading objects. These functions leave out what is absent or null. They pass on a value whose type the API server would
# never send, and the provider refuses it.

# The named members of an object.
part(x, members) := {member: value | some member in members; value := x[member]; value != null} if is_object(x)

part(null, _) := {}

part(x, _) := x if not type_name(x) in {"object", "null"}

get(x, member) := object.get(x, member, null) if is_object(x)

get(x, _) := x if not is_object(x)

items(x) := x if is_array(x)

items(null) := []

items(x) := [[x]] if not type_name(x) in {"array", "null"}

# Gatekeeper turns numbers into floating-point numbers, and Rego prints those with an exponent from a million on. This makes
# them integers again. Numbers beyond 2^53 are rounded.
integer(x) := min([x + 0, 9223372036854774784]) if is_number(x)

integer(x) := x if not is_number(x)
