package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Pods that are bound before the API server ends, and pods whose bindings are on their way when it does.
	boundBefore = 20
	onTheWay    = 20
)

// restartInBurst ends the API server while bindings are on their way to it, after their volumes have moved. When it is back,
// the scheduler binds the pods with what it remembers. No pod may get a node that cannot reach its volume, and none may stay
// without a node.
func (c *cluster) restartInBurst(ctx context.Context) error {
	const namespace = "restart"
	if err := c.namespace(ctx, namespace); err != nil {
		return err
	}
	names := make([]string, boundBefore+onTheWay)
	for n := range names {
		names[n] = fmt.Sprintf("pod-%d", n)
		if err := c.storage(ctx, namespace, names[n], corev1.ReadWriteOnce, zoneB); err != nil {
			return err
		}
	}
	if err := c.claimsAreBound(ctx, namespace); err != nil {
		return err
	}
	end, err := c.gate.before(ctx, c)
	if err != nil {
		return err
	}
	for _, name := range names[:boundBefore] {
		if err := c.createPod(ctx, podOf(namespace, name, name)); err != nil {
			return err
		}
	}
	if err := c.areBound(ctx, namespace, boundBefore); err != nil {
		return err
	}
	c.gate.shut()
	if err := eventually(ctx, "the gate is in force", nil, func() error {
		return c.knocks(ctx, namespace, "knock")
	}); err != nil {
		c.gate.open()
		return err
	}
	for _, name := range names[boundBefore:] {
		if err := c.createPod(ctx, podOf(namespace, name, name)); err != nil {
			return err
		}
	}
	held := 0
	if err := within(20*time.Second, "the scheduler decides", func() error {
		held = 0
		for pod := range c.gate.holding() {
			if pod != "knock" {
				held++
			}
		}
		if held < onTheWay {
			return fmt.Errorf("%d of %d bindings wait", held, onTheWay)
		}
		return nil
	}); err != nil {
		c.gate.open()
		return err
	}
	for _, name := range names[boundBefore:] {
		if err := c.move(ctx, namespace, name, zoneC); err != nil {
			return err
		}
	}
	refusals, err := c.refusedBindings(ctx)
	if err != nil {
		return err
	}
	c.apiServer.process.kill()
	c.gate.open()
	if err := c.runAPIServer(ctx); err != nil {
		return err
	}
	if err := c.areBound(ctx, namespace, len(names)); err != nil {
		return err
	}
	after, err := c.refusedBindings(ctx)
	if err != nil {
		return err
	}
	for n, name := range names {
		wanted := "race-b"
		if n >= boundBefore {
			wanted = "race-c"
		}
		if err := c.isBoundTo(ctx, namespace, name, wanted); err != nil {
			return err
		}
	}
	c.saw("%d pods bound before, %d bindings on their way, %d refused after the restart; every pod is on a node that reaches "+
		"its volume", boundBefore, held, after-refusals)
	return end()
}

// areBound waits until as many pods have a node.
func (c *cluster) areBound(ctx context.Context, namespace string, wanted int) error {
	return eventually(ctx, "the pods are bound", c.scheduler, func() error {
		pods, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		bound, verdict := 0, ""
		for i, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				bound++
			} else {
				verdict = verdictOn(&pods.Items[i])
			}
		}
		if bound < wanted {
			return fmt.Errorf("%d of %d are; of another the scheduler says %q", bound, wanted, verdict)
		}
		return nil
	})
}
