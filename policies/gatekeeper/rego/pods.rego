# Where each kind of workload has the template of its pods. A Pod is its own template.
package lib.placement_guard_pods

import data.lib.placement_guard.get

itself := {"group": "", "kind": "Pod"}

template := {"group": "", "kind": "PodTemplate"}

cron_job := {"group": "batch", "kind": "CronJob"}

stateful_set := {"group": "apps", "kind": "StatefulSet"}

in_spec := {
	stateful_set,
	{"group": "", "kind": "ReplicationController"},
	{"group": "apps", "kind": "DaemonSet"},
	{"group": "apps", "kind": "Deployment"},
	{"group": "apps", "kind": "ReplicaSet"},
	{"group": "batch", "kind": "Job"},
}

kinds := in_spec | {itself, template, cron_job}

# The pod template of an object.
of(kind, whole) := whole if kind == itself

of(kind, whole) := get(whole, "template") if kind == template

of(kind, whole) := get(get(get(get(whole, "spec"), "jobTemplate"), "spec"), "template") if kind == cron_job

of(kind, whole) := get(get(whole, "spec"), "template") if kind in in_spec

# Puts a pod template back where the object has it, because messages name the path of a field in the object.
placed(kind, pod) := pod if kind == itself

placed(kind, pod) := {"template": pod} if kind == template

placed(kind, pod) := {"spec": {"jobTemplate": {"spec": {"template": pod}}}} if kind == cron_job

placed(kind, pod) := {"spec": {"template": pod}} if kind in in_spec
