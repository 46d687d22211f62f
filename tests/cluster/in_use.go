package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const usesVolumes = "{allow: [widened, narrowed], whileInUse: deny}"

// Two nodes in two zones, and a namespace for what uses volumes.
func (c *cluster) makeNodes(ctx context.Context) error {
	for _, each := range []string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: db}}",
		"{apiVersion: v1, kind: Node, metadata: {name: node-b, labels: {topology.kubernetes.io/zone: us-east1-b}}}",
		"{apiVersion: v1, kind: Node, metadata: {name: node-c, labels: {topology.kubernetes.io/zone: us-east1-c}}}",
	} {
		if err := c.api.create(ctx, object(each), false); err != nil {
			return err
		}
	}
	return nil
}

// claimed makes a volume for both zones, and the claim of this name that has it.
func (c *cluster) claimed(ctx context.Context, name string) error {
	volume := zonal(name, "us-east1-b, us-east1-c")
	reference := map[string]string{"namespace": "db", "name": name}
	if err := unstructured.SetNestedStringMap(volume.Object, reference, "spec", "claimRef"); err != nil {
		return err
	}
	if err := c.api.create(ctx, volume, false); err != nil {
		return err
	}
	return c.api.create(ctx, object(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s, namespace: db}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: "", volumeName: %[1]s}
`, name)), false)
}

func user(volume string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: uses-%s, namespace: db}
spec:
  containers: [{name: it, image: example.com/it}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: %[1]s}}]
`, volume))
}

func attachment(volume string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-%s}
spec: {attacher: example.com, nodeName: node-c, source: {persistentVolumeName: %[1]s}}
`, volume))
}

// use lets a pod run with the volume on the node in zone us-east1-c, as the attacher, the scheduler and the kubelet would
// report it.
func (c *cluster) use(ctx context.Context, volume string) error {
	attached, pod := attachment(volume), user(volume)
	if err := c.api.create(ctx, attached, false); err != nil {
		return err
	}
	if err := c.api.patchStatus(ctx, attached, "{status: {attached: true}}"); err != nil {
		return err
	}
	if err := c.api.create(ctx, pod, false); err != nil {
		return err
	}
	if err := c.api.bind(ctx, pod, "node-c"); err != nil {
		return err
	}
	return c.api.patchStatus(ctx, pod, "{status: {phase: Running}}")
}

// leave ends what `use` began.
func (c *cluster) leave(ctx context.Context, volume string) error {
	if err := c.api.delete(ctx, user(volume)); err != nil {
		return err
	}
	return c.api.delete(ctx, attachment(volume))
}

// takeZone rehearses the edit that takes zone us-east1-c away from a volume.
func (c *cluster) takeZone(ctx context.Context, volume string) error {
	return c.api.patch(ctx, zonal(volume, ""), edited(zone, "us-east1-b"), true)
}

// inUse begins what is said of a volume that `use` uses.
func inUse(volume string) string {
	return fmt.Sprintf(
		"volume in use: `db/uses-%s` runs on `node-c`, a node that loses volume `%[1]s`", volume)
}
