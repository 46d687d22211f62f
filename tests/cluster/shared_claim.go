package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sharedClaim gives a claim of one pod to three pods: one that uses it, one that must wait, and one that takes it away.
func (c *cluster) sharedClaim(ctx context.Context) error {
	const namespace = "sharing"
	if err := c.namespace(ctx, namespace); err != nil {
		return err
	}
	if err := c.node(ctx, "sharing-node", map[string]string{zone: "sharing"}); err != nil {
		return err
	}
	if err := c.hasRoom(ctx, "sharing-node"); err != nil {
		return err
	}
	if err := c.storage(ctx, namespace, "data", corev1.ReadWriteOncePod, "sharing"); err != nil {
		return err
	}
	if err := c.claimsAreBound(ctx, namespace); err != nil {
		return err
	}
	urgent := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000}
	if _, err := c.client.SchedulingV1().PriorityClasses().Create(ctx, urgent, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := c.createPod(ctx, podOf(namespace, "first", "data")); err != nil {
		return err
	}
	if err := c.isBoundTo(ctx, namespace, "first", "sharing-node"); err != nil {
		return err
	}
	if err := c.holdsPods(ctx); err != nil {
		return err
	}
	// It waits, as the warning says.
	second := "claim of one pod shared: pod `second` names claim `data` (`ReadWriteOncePod`), which pod `sharing/first` " +
		"already uses"
	if err := c.warned(second, "the new pod stays `Pending` until `sharing/first` has ended", func() error {
		return c.createPod(ctx, podOf(namespace, "second", "data"))
	}); err != nil {
		return err
	}
	var verdict string
	if err := eventually(ctx, "the scheduler's verdict", c.scheduler, func() (err error) {
		var node string
		node, verdict, err = c.nodeOf(ctx, namespace, "second")
		if err == nil && node != "" {
			return fmt.Errorf("pod `second` is bound to `%s`", node)
		}
		if err == nil && !strings.Contains(verdict, "ReadWriteOncePod access mode") {
			return fmt.Errorf("it says %q", verdict)
		}
		return err
	}); err != nil {
		return err
	}
	if err := c.endPod(ctx, namespace, "second"); err != nil {
		return err
	}
	if err := c.holdsPods(ctx); err != nil {
		return err
	}
	// It takes the place of the first, as the warning says.
	seen, err := c.watchDepartures(ctx, namespace)
	if err != nil {
		return err
	}
	defer seen.stop()
	third := podOf(namespace, "third", "data")
	third.Spec.PriorityClassName = "urgent"
	if err := c.warned("claim of one pod shared: pod `third` names claim `data`",
		"the new pod has the higher priority (`1000`, the other `0`), so the scheduler evicts `sharing/first`",
		func() error { return c.createPod(ctx, third) },
	); err != nil {
		return err
	}
	if err := within(20*time.Second, "the first pod is evicted", func() error {
		seen.mutex.Lock()
		defer seen.mutex.Unlock()
		if _, gone := seen.at["first"]; !gone {
			return errors.New("it is still there")
		}
		return nil
	}); err != nil {
		return err
	}
	// There is no kubelet that would end it.
	if err := c.endPod(ctx, namespace, "first"); err != nil {
		return err
	}
	if err := c.isBoundTo(ctx, namespace, "third", "sharing-node"); err != nil {
		return err
	}
	_, why, _ := strings.Cut(verdict, ": ")
	why, _, _ = strings.Cut(why, ",")
	c.saw("it waits (%q), and one of higher priority evicts the first", why)
	return nil
}

// warned wants a warning with this beginning, and this somewhere.
func (c *cluster) warned(begins, has string, do func() error) error {
	c.api.warnings()
	if err := do(); err != nil {
		return err
	}
	heard := c.api.warnings()
	for _, warning := range heard {
		if strings.HasPrefix(warning, begins) && strings.Contains(warning, has) {
			return nil
		}
	}
	return fmt.Errorf("expected a warning that begins with %q and has %q, heard %q", begins, has, heard)
}
