package main

import (
	"fmt"
	"strings"
)

// shape is a request with as many entries as one likes.
type shape struct {
	// file is the name of the rule's template and constraint.
	file    string
	what    string
	request func(n int) map[string]any
}

// kindOf is the kind of the constraints of a template: `local-volumes` makes `PlacementGuardLocalVolumes`.
func kindOf(file string) string {
	kind := "PlacementGuard"
	for _, word := range strings.Split(file, "-") {
		kind += strings.ToUpper(word[:1]) + word[1:]
	}
	return kind
}

// Every list that a template reads, in both kinds of requests that store an object.
var shapes = []shape{
	{"volume-node-affinity", "terms", func(n int) map[string]any {
		return create("", "PersistentVolume", volume(each(n, term)))
	}},
	{"volume-node-affinity", "terms, UPDATE", func(n int) map[string]any {
		return update("", "PersistentVolume", volume(each(n, term)), volume(each(n-1, term)))
	}},
	{"volume-node-affinity", "expressions in one term", func(n int) map[string]any {
		return create("", "PersistentVolume", volume([]any{object{"matchExpressions": each(n, expression)}}))
	}},
	{"tolerations", "tolerations", func(n int) map[string]any {
		return create("", "Pod", object{"spec": object{"tolerations": each(n, toleration)}})
	}},
	{"tolerations", "tolerations of a CronJob, UPDATE", func(n int) map[string]any {
		return update("batch", "CronJob", cronJob(each(n, toleration)), cronJob(each(n-1, toleration)))
	}},
	{"tolerations", "containers with an extended resource", func(n int) map[string]any {
		spec := object{"tolerations": each(1, toleration), "containers": each(n, withDevice), "initContainers": each(n, withDevice)}
		return create("", "Pod", object{"spec": spec})
	}},
	{"tolerations", "extended resources of one container", func(n int) map[string]any {
		amounts := object{}
		for i := range n {
			amounts[fmt.Sprintf("example.com/device-%d", i)] = "1"
		}
		container := object{"name": "it", "resources": object{"limits": amounts, "requests": amounts}}
		spec := object{"tolerations": each(1, toleration), "containers": []any{container}}
		return create("", "Pod", object{"spec": spec})
	}},
	{"tolerations", "owner references", func(n int) map[string]any {
		pod := object{"metadata": object{"ownerReferences": each(n, owner)}, "spec": object{"tolerations": each(1, toleration)}}
		return audited(create("", "Pod", pod))
	}},
	{"tolerations", "groups of the requester", func(n int) map[string]any {
		request := create("", "Pod", object{"spec": object{"tolerations": each(1, toleration)}})
		request["userInfo"] = object{"username": "eve", "groups": each(n, func(i int) any { return fmt.Sprintf("group-%d", i) })}
		return request
	}},
	{"node-taints", "taints", func(n int) map[string]any {
		return create("", "Node", object{"spec": object{"taints": each(n, taint)}})
	}},
	{"node-taints", "taints, UPDATE", func(n int) map[string]any {
		return update("", "Node", object{"spec": object{"taints": each(n, taint)}}, object{"spec": object{"taints": each(n-1, taint)}})
	}},
	{"csi-driver-tokens", "token requests, UPDATE", func(n int) map[string]any {
		driver := func(n int) object { return object{"spec": object{"tokenRequests": each(n, tokenRequest)}} }
		return update("storage.k8s.io", "CSIDriver", driver(n), driver(n-1))
	}},
	{"access-modes", "ephemeral volumes", func(n int) map[string]any {
		return create("", "Pod", object{"spec": object{"volumes": each(n, ephemeral)}})
	}},
	{"access-modes", "volumes and containers without interest", func(n int) map[string]any {
		return create("", "Pod", object{"spec": object{"volumes": each(n, emptyDir), "containers": each(n, mounting)}})
	}},
	{"access-modes", "containers with the image of a sidecar", func(n int) map[string]any {
		spec := object{"containers": each(n, sidecar), "initContainers": each(n, sidecar)}
		return create("apps", "Deployment", object{"spec": object{"template": object{"spec": spec}}})
	}},
	{"access-modes", "claim templates of a StatefulSet, UPDATE", func(n int) map[string]any {
		set := func(n int) object { return object{"spec": object{"volumeClaimTemplates": each(n, claim)}} }
		return update("apps", "StatefulSet", set(n), set(n-1))
	}},
	{"access-modes", "access modes of a claim", func(n int) map[string]any {
		modes := each(n, func(i int) any { return fmt.Sprintf("Mode%d", i) })
		return create("", "PersistentVolumeClaim", object{"spec": object{"accessModes": modes}})
	}},
	{"access-modes", "keys of a volume's spec", func(n int) map[string]any {
		spec := object{"accessModes": []any{"ReadWriteOncePod"}}
		for i := range n {
			spec[fmt.Sprintf("source-%d", i)] = object{}
		}
		return create("", "PersistentVolume", object{"spec": spec})
	}},
	{"local-volumes", "volumes and containers, no host path", func(n int) map[string]any {
		return create("", "Pod", object{"spec": object{"volumes": each(n, emptyDir), "containers": each(n, mounting)}})
	}},
	{"local-volumes", "host paths, and containers that mount one", func(n int) map[string]any {
		return create("", "Pod", hostPaths(n))
	}},
	{"local-volumes", "host paths, and containers, UPDATE", func(n int) map[string]any {
		return update("", "Pod", hostPaths(n), hostPaths(n-1))
	}},
	{"local-volumes", "one host path after other volumes", func(n int) map[string]any {
		volumes := append(each(n, emptyDir), hostPath(0))
		return create("", "Pod", object{"spec": object{"volumes": volumes, "containers": each(n, mounting)}})
	}},
	{"local-volumes", "mounts in one container", func(n int) map[string]any {
		container := object{"name": "it", "volumeMounts": each(n, mount)}
		return create("", "Pod", object{"spec": object{"volumes": each(1, hostPath), "containers": []any{container}}})
	}},
	{"local-volumes", "terms of a local volume, by a node", func(n int) map[string]any {
		local := volume(each(n, term))
		local["spec"].(object)["local"] = object{"path": "/mnt/disks/a"}
		request := create("", "PersistentVolume", local)
		request["userInfo"] = object{"username": "it", "extra": object{"authentication.kubernetes.io/node-name": []any{"a"}}}
		return request
	}},
}

type object = map[string]any

func each(n int, make func(i int) any) []any {
	list := []any{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

func create(group, kind string, of object) object {
	return object{
		"operation": "CREATE", "name": "it", "uid": "1", "object": of, "userInfo": object{"username": "eve"},
		"kind": object{"group": group, "version": "v1", "kind": kind},
	}
}

func update(group, kind string, of, old object) object {
	request := create(group, kind, of)
	request["operation"], request["oldObject"] = "UPDATE", old
	return request
}

// audited is a request without a user, as an audit makes it.
func audited(request object) object {
	request["operation"], request["userInfo"] = "", object{}
	return request
}

func volume(terms []any) object {
	affinity := object{"required": object{"nodeSelectorTerms": terms}}
	return object{"spec": object{"nodeAffinity": affinity}}
}

func expression(i int) any {
	return object{"key": fmt.Sprintf("key-%d", i), "operator": "In", "values": []any{"a", fmt.Sprintf("b%d", i)}}
}

func term(i int) any { return object{"matchExpressions": []any{expression(i)}} }

func toleration(i int) any {
	return object{"key": fmt.Sprintf("key-%d", i), "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": i}
}

func cronJob(tolerations []any) object {
	template := object{"spec": object{"tolerations": tolerations}}
	return object{"spec": object{"jobTemplate": object{"spec": object{"template": template}}}}
}

func withDevice(i int) any {
	resources := object{"limits": object{fmt.Sprintf("example.com/device-%d", i): "1"}}
	return object{"name": fmt.Sprintf("c%d", i), "resources": resources}
}

func owner(i int) any {
	return object{"apiVersion": "apps/v1", "kind": fmt.Sprintf("Kind%d", i), "name": "a", "uid": "b", "controller": false}
}

func taint(i int) any {
	return object{"key": fmt.Sprintf("key-%d", i), "value": "1", "effect": "NoExecute"}
}

func tokenRequest(i int) any {
	return object{"audience": fmt.Sprintf("audience-%d", i), "expirationSeconds": 3600}
}

func claim(i int) any {
	spec := object{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "regional"}
	return object{"metadata": object{"name": fmt.Sprintf("claim-%d", i)}, "spec": spec}
}

func ephemeral(i int) any {
	return object{"name": fmt.Sprintf("v%d", i), "ephemeral": object{"volumeClaimTemplate": claim(i)}}
}

func sidecar(i int) any {
	return object{"name": fmt.Sprintf("c%d", i), "image": "registry.k8s.io/sig-storage/csi-provisioner:v3.0.0"}
}

func emptyDir(i int) any { return object{"name": fmt.Sprintf("v%d", i), "emptyDir": object{}} }

func hostPath(i int) any {
	return object{"name": fmt.Sprintf("v%d", i), "hostPath": object{"path": fmt.Sprintf("/var/log/%d", i)}}
}

func mount(i int) any {
	return object{"name": fmt.Sprintf("v%d", i), "mountPath": fmt.Sprintf("/%d", i), "readOnly": true}
}

func mounting(i int) any {
	return object{"name": fmt.Sprintf("c%d", i), "volumeMounts": each(1, mount)}
}

func hostPaths(n int) object {
	return object{"spec": object{"volumes": each(n, hostPath), "containers": each(n, func(i int) any {
		return object{"name": fmt.Sprintf("c%d", i), "volumeMounts": []any{mount(i)}}
	})}}
}
