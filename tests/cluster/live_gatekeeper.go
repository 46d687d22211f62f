package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// liveThroughGatekeeper shows which questions Gatekeeper asks anew each time: those about the live cluster.
func (c *cluster) liveThroughGatekeeper(ctx context.Context) error {
	kubeconfig, err := c.becomeReader(ctx, "gatekeeper/cluster-reader.yaml", "gatekeeper-system")
	if err != nil {
		return err
	}
	c.provider.process.stop()
	c.provider.arguments = append(c.provider.arguments,
		"--kubeconfig="+kubeconfig, "--reads-cluster=Node,Pod,PersistentVolumeClaim,VolumeAttachment")
	if err := c.runProvider(ctx); err != nil {
		return err
	}
	if err := c.makeNodes(ctx); err != nil {
		return err
	}
	if err := c.claimed(ctx, "through-gatekeeper"); err != nil {
		return err
	}
	if err := c.use(ctx, "through-gatekeeper"); err != nil {
		return err
	}
	refused := func(says string) func() error {
		return func() error {
			return byConstraint(c.takeZone(ctx, "through-gatekeeper"), "volume-node-affinity", says)
		}
	}
	// These parameters do not read the cluster: the second time, Gatekeeper has the answer.
	narrowed := refused("node affinity narrowed: ")
	if err := c.asksProvider(ctx, 1, narrowed, narrowed); err != nil {
		return fmt.Errorf("without the cluster: %w", err)
	}
	used := refused(inUse("through-gatekeeper"))
	parameters := "{spec: {parameters: " + usesVolumes + "}}"
	if err := c.enforce(ctx, "volume-node-affinity", parameters, used); err != nil {
		return err
	}
	if err := c.asksProvider(ctx, 2, used, used); err != nil {
		return fmt.Errorf("with the cluster: %w", err)
	}
	// So the answer follows the cluster, though the edit is the same.
	if err := c.leave(ctx, "through-gatekeeper"); err != nil {
		return err
	}
	return within(5*time.Second, "the edit is accepted once no pod has the volume", func() error {
		return c.takeZone(ctx, "through-gatekeeper")
	})
}

// asksProvider wants as many refusals by the provider from these edits. Audits change no volume, so they add none.
func (c *cluster) asksProvider(ctx context.Context, wanted int, edits ...func() error) error {
	before, err := c.provider.refusals(ctx)
	if err != nil {
		return err
	}
	for _, edit := range edits {
		if err := edit(); err != nil {
			return err
		}
	}
	after, err := c.provider.refusals(ctx)
	if err == nil && after-before != wanted {
		err = fmt.Errorf("%d edits are refused, and the provider refused %d, not %d", len(edits), after-before, wanted)
	}
	return err
}

var refusals = regexp.MustCompile(
	`(?m)^placement_guard_decisions_total\{rule="volumeNodeAffinity",verdict="refused"\} (\d+)$`)

// refusals counts what the provider refused about the node affinity of volumes.
func (p *provider) refusals(ctx context.Context) (int, error) {
	metrics, err := p.operation(ctx, "metrics")
	if err != nil {
		return 0, err
	}
	if found := refusals.FindStringSubmatch(metrics); found != nil {
		return strconv.Atoi(found[1])
	}
	if !strings.Contains(metrics, "placement_guard_decisions") {
		return 0, fmt.Errorf("the metrics have no decisions: %s", metrics)
	}
	return 0, nil
}

// within tries until it works, and gives up with the last reason when the time is over.
func within(limit time.Duration, what string, try func() error) error {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		// An answer counts by when it was asked for.
		asked := time.Since(begun)
		err := try()
		if err == nil {
			return nil
		}
		if asked > limit {
			return fmt.Errorf("%s within %v: %w", what, limit, err)
		}
	}
}
