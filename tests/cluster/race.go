package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const zoneB, zoneC = "us-east1-b", "us-east1-c"

// raceNodes makes two nodes with room, one in each zone.
func (c *cluster) raceNodes(ctx context.Context) error {
	for name, in := range map[string]string{"race-b": zoneB, "race-c": zoneC} {
		if err := c.node(ctx, name, map[string]string{zone: in}); err != nil {
			return err
		}
		if err := c.hasRoom(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// race moves a volume while the scheduler's binding is on its way: once without us, once with us.
func (c *cluster) race(ctx context.Context) error {
	const namespace = "race"
	if err := c.namespace(ctx, namespace); err != nil {
		return err
	}
	if err := c.raceNodes(ctx); err != nil {
		return err
	}
	for _, name := range []string{"alone", "guarded"} {
		if err := c.storage(ctx, namespace, name, corev1.ReadWriteOnce, zoneB); err != nil {
			return err
		}
	}
	if err := c.claimsAreBound(ctx, namespace); err != nil {
		return err
	}
	var err error
	if c.gate, err = c.serveGate(ctx); err != nil {
		return err
	}
	end, err := c.gate.before(ctx, c)
	if err != nil {
		return err
	}
	if err := c.judgesBindings(ctx, false); err != nil {
		return err
	}
	if err := c.moveWhileBinding(ctx, namespace, "alone"); err != nil {
		return err
	}
	if err := c.isBoundTo(ctx, namespace, "alone", "race-b"); err != nil {
		return fmt.Errorf("without us: %w", err)
	}
	if err := c.judgesBindings(ctx, true); err != nil {
		return err
	}
	refusals, err := c.refusedBindings(ctx)
	if err != nil {
		return err
	}
	if err := c.moveWhileBinding(ctx, namespace, "guarded"); err != nil {
		return err
	}
	if err := c.isBoundTo(ctx, namespace, "guarded", "race-c"); err != nil {
		return fmt.Errorf("with us: %w", err)
	}
	after, err := c.refusedBindings(ctx)
	if err != nil {
		return err
	}
	if after <= refusals {
		return errors.New("no binding was refused")
	}
	c.saw("without us on the node that lost the volume, with us refused (%d) and bound to the other node", after-refusals)
	return end()
}

// moveWhileBinding creates a pod, waits until the scheduler binds it to a node in zone b, moves its volume to zone c, and
// then lets the binding through.
func (c *cluster) moveWhileBinding(ctx context.Context, namespace, name string) error {
	// A webhook that is new takes a moment to come into force. Nothing is bound before that.
	c.gate.shut()
	defer c.gate.open()
	if err := eventually(ctx, "the gate is in force", nil, func() error {
		return c.knocks(ctx, namespace, "knock-"+name)
	}); err != nil {
		return err
	}
	if err := c.createPod(ctx, podOf(namespace, name, name)); err != nil {
		return err
	}
	if err := within(20*time.Second, "the scheduler decides", func() error {
		switch node := c.gate.holding()[name]; node {
		case "race-b":
			return nil
		default:
			_, verdict, err := c.nodeOf(ctx, namespace, name)
			return errors.Join(err, fmt.Errorf("bindings %v, the scheduler says %q", c.gate.holding(), verdict))
		}
	}); err != nil {
		return err
	}
	return c.move(ctx, namespace, name, zoneC)
}

// knocks wants the binding of a pod that is not there to be held at the gate.
func (c *cluster) knocks(ctx context.Context, namespace, name string) error {
	brief, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	_ = c.client.CoreV1().Pods(namespace).Bind(brief, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "race-b"},
	}, metav1.CreateOptions{})
	if _, held := c.gate.holding()[name]; !held {
		return errors.New("a binding passes beside it")
	}
	return nil
}

// move gives a volume to another zone, as an administrator does whose storage has moved.
func (c *cluster) move(ctx context.Context, namespace, name, to string) error {
	change, err := json.Marshal(map[string]any{"spec": map[string]any{"nodeAffinity": inZones(to)}})
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().PersistentVolumes().
		Patch(ctx, namespace+"-"+name, types.MergePatchType, change, metav1.PatchOptions{})
	return err
}

// judgesBindings says whether the API server asks us about bindings, and waits until it does.
func (c *cluster) judgesBindings(ctx context.Context, does bool) error {
	const file = "volume-binding.yaml"
	if !does {
		found, err := objects(c.ours("webhook/"+file), nil)
		if err != nil {
			return err
		}
		if err := c.api.delete(ctx, found[0]); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	if err := c.applyOurs(ctx, file); err != nil {
		return err
	}
	if err := c.injectCA(ctx, file); err != nil {
		return err
	}
	if err := c.changeWebhook(ctx, file, refuseUnjudged); err != nil {
		return err
	}
	return eventually(ctx, "bindings are judged", c.provider.process, func() error {
		before, err := c.judgedBindings(ctx)
		if err != nil {
			return err
		}
		// Of a pod that is not there.
		_ = c.client.CoreV1().Pods("default").Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: "missing"}, Target: corev1.ObjectReference{Kind: "Node", Name: "race-b"},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		after, err := c.judgedBindings(ctx)
		if err == nil && after <= before {
			err = errors.New("the server was not asked")
		}
		return err
	})
}

// judgedBindings counts what the rule decided, and refusedBindings what of it were refusals.
func (c *cluster) judgedBindings(ctx context.Context) (int, error) { return c.decisions(ctx, "") }
func (c *cluster) refusedBindings(ctx context.Context) (int, error) {
	return c.decisions(ctx, "refused")
}

func (c *cluster) decisions(ctx context.Context, verdict string) (int, error) {
	metrics, err := c.provider.operation(ctx, "metrics")
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, line := range strings.Split(metrics, "\n") {
		labels, count, is := strings.Cut(line, "} ")
		if !is || !strings.HasPrefix(labels, `placement_guard_decisions_total{`) ||
			!strings.Contains(labels, `rule="volumeBinding"`) || !strings.Contains(labels, `verdict="`+verdict) {
			continue
		}
		var number int
		if _, err := fmt.Sscan(count, &number); err != nil {
			return 0, err
		}
		sum += number
	}
	return sum, nil
}
