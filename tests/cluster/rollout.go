package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const rolledOut = "rollout.example.com"

// The objects that a CSI driver has in a cluster while it is rolled out, as kubelet and DaemonSet controller write them.
const (
	rolloutDriver = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: rollout.example.com}
spec: {tokenRequests: [{audience: example}], requiresRepublish: true}
`
	rolloutDaemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: csi-node, namespace: drivers}
spec:
  selector: {matchLabels: {app: csi-node}}
  template:
    metadata: {labels: {app: csi-node}}
    spec: {containers: [{name: driver, image: "example.com/driver:v1.6.0"}]}
`
	tokensToSecrets = "{spec: {serviceAccountTokenInSecrets: true}}"
)

// rolloutGate moves the tokens of a driver to secrets when some nodes are not ready, then fewer, then none.
func (c *cluster) rolloutGate(ctx context.Context) error {
	if err := c.namespace(ctx, "drivers"); err != nil {
		return err
	}
	driver, set := object(rolloutDriver), object(rolloutDaemonSet)
	for _, each := range []*unstructured.Unstructured{driver, set} {
		if err := c.api.create(ctx, each, false); err != nil {
			return err
		}
	}
	for n := range 4 {
		node := fmt.Sprintf("rollout-%d", n)
		if err := c.node(ctx, node, nil); err != nil {
			return err
		}
		if err := c.registerDriver(ctx, node); err != nil {
			return err
		}
		version := "v1.36.3"
		if n < 2 {
			version = "v1.34.9"
		}
		if err := c.kubelet(ctx, node, version); err != nil {
			return err
		}
	}
	rolled := func(pods int) error {
		return c.api.patchStatus(ctx, set, fmt.Sprintf(
			"{status: {observedGeneration: 1, desiredNumberScheduled: 4, currentNumberScheduled: 4, numberMisscheduled: 0, "+
				"numberReady: %d, updatedNumberScheduled: %[1]d, numberAvailable: %[1]d}}", pods))
	}
	move := func(rehearsal bool) error { return c.api.patch(ctx, driver, tokensToSecrets, rehearsal) }
	// What was stored a moment ago takes a moment to reach the server.
	refuses := func(nodes, pods string) error {
		return eventually(ctx, "the tokens stay for "+nodes+pods, c.provider.process, func() error {
			err := refused(move(false), webhook, "token rollout incomplete: driver `"+rolledOut+"` would get its tokens in "+
				"`secrets`, not ready for that: ")
			for _, part := range []string{nodes, pods} {
				if err == nil && part != "" {
					err = mentions(move(true), part)
				}
			}
			return err
		})
	}
	if err := rolled(2); err != nil {
		return err
	}
	const onTwo = "DaemonSet `drivers/csi-node` is updated on 2 of 4 nodes (status.updatedNumberScheduled)"
	if err := refuses("kubelet older than 1.35.0: `rollout-0` (`v1.34.9`), `rollout-1` (`v1.34.9`)\n", onTwo); err != nil {
		return err
	}
	if err := c.kubelet(ctx, "rollout-0", "v1.36.3"); err != nil {
		return err
	}
	if err := refuses("kubelet older than 1.35.0: `rollout-1` (`v1.34.9`)\n", onTwo); err != nil {
		return err
	}
	if err := rolled(4); err != nil {
		return err
	}
	if err := refuses("not ready for that: 1 node\n", ""); err != nil {
		return err
	}
	if err := c.kubelet(ctx, "rollout-1", "v1.36.3"); err != nil {
		return err
	}
	if err := eventually(ctx, "the tokens move", c.provider.process, func() error { return move(false) }); err != nil {
		return err
	}
	c.saw("refused with 2 nodes and 2 pods behind, with 1 node behind, and accepted with none")
	return nil
}

// registerDriver says that a node has the driver, as its kubelet does.
func (c *cluster) registerDriver(ctx context.Context, node string) error {
	_, err := c.client.StorageV1().CSINodes().Create(ctx, &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: rolledOut, NodeID: node}}},
	}, metav1.CreateOptions{})
	return err
}

// kubelet says which version a node runs.
func (c *cluster) kubelet(ctx context.Context, node, version string) error {
	stored, err := c.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	stored.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: version}
	_, err = c.client.CoreV1().Nodes().UpdateStatus(ctx, stored, metav1.UpdateOptions{})
	return err
}

// mentions wants a refusal that has this part somewhere.
func mentions(err error, part string) error {
	if err == nil {
		return fmt.Errorf("accepted, and expected is a refusal with %q", part)
	}
	if !strings.Contains(err.Error()+"\n", part) {
		return fmt.Errorf("expected %q, got: %w", part, err)
	}
	return nil
}
