# What all templates share: when the provider is asked, what it is asked, and which answer lets a request pass.
package lib.placement_guard

# A judged request passes in one way: by a well-formed answer to this very key that says so. Whatever else comes, or fails
# to come, is no such answer: a provider that is down, `null`, a wrong shape, errors, fewer items. The HTTP status is not
# looked at; it is 0 where Gatekeeper answers from its cache.
allows(question) if {
	is_string(question)
	answer := answers(question)
	answer.system_error == ""
	count(answer.errors) == 0
	count(answer.responses) == 1
	answer.responses[0][0] == question
	answer.responses[0][1].allowed == true
}

# Why a request is refused. The sense comes first: the status of a constraint keeps 256 bytes. All of it is on one line: the
# API server drops a warning with a line break, and nobody would hear of it under `enforcementAction: warn`.
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
} else := "the answer of provider `placement-guard` is not understood"

answers(question) := external_data({"provider": "placement-guard", "keys": [question]})

# The question as the provider reads it. `before`, `after` and `more` hold what the rule reads, and nothing that varies
# besides, such as `managedFields`, `status`, `resourceVersion` and `uid`: Gatekeeper keeps every key with its answer for
# minutes, and the same question need not be asked twice.
key(section, before, after, more) := json.marshal({
	"v": 1,
	"settings": {section: input.parameters},
	"request": object.union_n([request, {"object": after}, {"oldObject": before | operation == "UPDATE"; knows_old}, more]),
})

# The object as it is to be stored, and as it is stored now: not at all on a CREATE and in an audit.
new := input.review.object

old := input.review.oldObject if {
	operation == "UPDATE"
} else := {}

# Whether what is read of the object was there before. Of an UPDATE without the old object nobody knows.
same(before, after) if {
	before == after
	knows_old
}

knows_old if operation == "CREATE"

knows_old if {
	operation == "UPDATE"
	is_object(input.review.oldObject)
}

# An audit knows no operation: what is there is judged as if it were new.
operation := input.review.operation if {
	input.review.operation != ""
} else := "CREATE"

kind := {"group": group, "kind": input.review.kind.kind}

group := input.review.kind.group if {
	is_string(input.review.kind.group)
} else := ""

# The name, or on a CREATE with a generated one what the object says.
name := input.review.name if {
	input.review.name != ""
} else := input.review.object.metadata.name if {
	input.review.object.metadata.name != ""
} else := get(get(input.review.object, "metadata"), "generateName")

# Requests that are not judged, whatever is in them: those that store nothing, sub-resources, and other kinds.
elsewhere(kinds) if {
	is_string(kind.kind)
	not kind in kinds
}

elsewhere(_) if operation in {"DELETE", "CONNECT"}

elsewhere(_) if is_subresource

is_subresource if {
	is_string(input.review.subResource)
	input.review.subResource != ""
	not stores_labels
}

# A write of a volume's status stores its labels too; only the spec is taken back.
stores_labels if {
	input.review.kind.kind == "PersistentVolume"
	input.review.subResource == "status"
}

# What every request says. Namespace and user are there only where `exempt` of the parameters speaks of them.
request := object.union_n([
	{"operation": operation, "kind": kind},
	{"namespace": input.review.namespace | input.parameters.exempt.namespaces},
	{"userInfo": user | names_users},
])

names_users if input.parameters.exempt.users

names_users if input.parameters.exempt.groups

# Who asks. Of the groups, those that mean something: the list of a person is long and differs from the next one's.
user := object.union(part(get(input.review, "userInfo"), ["username"]), {"groups": groups})

groups := [each | some each in items(get(get(input.review, "userInfo"), "groups")); each in telling_groups]

telling_groups := {"system:nodes"} | {each | some each in items(get(get(input.parameters, "exempt"), "groups"))}

# Reading objects. What is absent or null is left out. What has a type that the API server would never send is handed on
# as it is, for the provider to refuse.

# The named members of an object.
part(x, members) := {member: value | some member in members; value := x[member]; value != null} if is_object(x)

part(null, _) := {}

part(x, _) := x if not type_name(x) in {"object", "null"}

get(x, member) := object.get(x, member, null) if is_object(x)

get(x, _) := x if not is_object(x)

items(x) := x if is_array(x)

items(null) := []

items(x) := [[x]] if not type_name(x) in {"array", "null"}

# Gatekeeper turns numbers into floating-point ones, and Rego prints those with an exponent from a million on. Here they
# become integers again, those beyond 2^53 nearly what they were.
integer(x) := min([x + 0, 9223372036854774784]) if is_number(x)

integer(x) := x if not is_number(x)
