package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Pods that are bound before the API server ends, and pods whose bindings are on their way when it does.
	boundBefore = 20
	onTheWay    = 20
)

// restartInBurst ends the API server while bindings are on their way to it, and moves their volumes: of some before that, of
// the others when the scheduler tries again after the restart. No pod may get a node that cannot reach its volume, and none
// may stay without a node.
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
	create := func(names []string) error {
		for _, name := range names {
			if err := c.createPod(ctx, podOf(namespace, name, name)); err != nil {
				return err
			}
		}
		return nil
	}
	move := func(names []string) error {
		for _, name := range names {
			if err := c.move(ctx, namespace, name, zoneC); err != nil {
				return err
			}
		}
		return nil
	}
	early, late := names[boundBefore:boundBefore+onTheWay/2], names[boundBefore+onTheWay/2:]
	if err := create(names[:boundBefore]); err != nil {
		return err
	}
	if err := c.areBound(ctx, namespace, boundBefore); err != nil {
		return err
	}
	c.gate.shut()
	opened := false
	defer func() {
		if !opened {
			c.gate.open()
		}
	}()
	if err := eventually(ctx, "the gate is in force", nil, func() error {
		return c.knocks(ctx, namespace, "knock")
	}); err != nil {
		return err
	}
	if err := create(names[boundBefore:]); err != nil {
		return err
	}
	if err := c.gate.holds(names[boundBefore:]); err != nil {
		return err
	}
	if err := move(early); err != nil {
		return err
	}
	refusals, err := c.refusedBindings(ctx)
	if err != nil {
		return err
	}
	c.apiServer.process.kill()
	c.gate.shut()
	if err := c.runAPIServer(ctx); err != nil {
		return err
	}
	if err := c.gate.holds(names[boundBefore:]); err != nil {
		return fmt.Errorf("after the restart: %w", err)
	}
	if err := move(late); err != nil {
		return err
	}
	c.gate.open()
	opened = true
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
	if after-refusals < len(late) {
		return fmt.Errorf("only %d bindings were refused, and %d volumes moved before theirs", after-refusals, len(late))
	}
	c.saw("%d pods bound before, %d bindings lost with it, %d refused after it; all %d are on a node that reaches their volume",
		boundBefore, onTheWay, after-refusals, len(names))
	return end()
}

// holds waits until the bindings of these pods wait at the gate.
func (g *gate) holds(pods []string) error {
	return within(25*time.Second, "the scheduler decides", func() error {
		held := g.holding()
		missing := slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return held[pod] != "" })
		if len(missing) > 0 {
			return fmt.Errorf("no binding came of %q", missing)
		}
		return nil
	})
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
