package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	benchPods   = 200
	benchRounds = 3
	// What judging may cost, next to a webhook that does nothing.
	wantedShare = 0.6
)

// measureBindings has the scheduler bind a burst of pods, each with a volume, without a webhook, with one that accepts at
// once, and with `volumeBinding`. The rounds take turns, so that a change of the machine meets all three.
func (c *cluster) measureBindings(ctx context.Context) error {
	const namespace = "bench"
	if err := c.judgeBy(ctx, "volumeBinding: {}\n", "--evaluations=2"); err != nil {
		return err
	}
	if err := c.namespace(ctx, namespace); err != nil {
		return err
	}
	if err := c.raceNodes(ctx); err != nil {
		return err
	}
	for n := range benchPods {
		if err := c.storage(ctx, namespace, fmt.Sprintf("pod-%d", n), corev1.ReadWriteOnce, zoneB, zoneC); err != nil {
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
	modes := []benchMode{{name: "no webhook"}, {name: "accepting at once", gate: true}, {name: "volumeBinding", ours: true}}
	rates := make([][]float64, len(modes))
	for range benchRounds {
		for i, mode := range modes {
			rate, err := c.measure(ctx, namespace, mode)
			if err != nil {
				return fmt.Errorf("%s: %w", mode.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	var medians []float64
	for i, mode := range modes {
		slices.Sort(rates[i])
		medians = append(medians, rates[i][benchRounds/2])
		fmt.Printf("%-20s %5.0f bindings per second (median of %d; %.0f to %.0f)\n",
			mode.name, medians[i], benchRounds, rates[i][0], rates[i][benchRounds-1])
	}
	share := medians[2] / medians[1]
	c.saw("%d pods at once, two evaluations at a time: volumeBinding reaches %.2f of a webhook that accepts at once, and "+
		"%.2f of none", benchPods, share, medians[2]/medians[0])
	if share < wantedShare {
		return fmt.Errorf("volumeBinding reaches %.2f of a webhook that accepts at once; wanted are %.2f", share, wantedShare)
	}
	return nil
}

// benchMode is which webhook the API server asks about bindings: ours, one that accepts at once, or none.
type benchMode struct {
	name string
	ours bool
	gate bool
}

// measure returns how many pods are bound a second, and makes sure that the right webhook was asked.
func (c *cluster) measure(ctx context.Context, namespace string, mode benchMode) (rate float64, err error) {
	if err := c.judgesBindings(ctx, mode.ours); err != nil {
		return 0, err
	}
	if mode.gate {
		end, failed := c.gate.beside(ctx, c)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	// Long enough for the API server to hear of it.
	time.Sleep(2 * time.Second)
	decided, err := c.judgedBindings(ctx)
	if err != nil {
		return 0, err
	}
	answered := c.gate.answered.Load()
	if rate, err = c.burst(ctx, namespace); err != nil {
		return 0, err
	}
	after, err := c.judgedBindings(ctx)
	if err != nil {
		return 0, err
	}
	// The creation of a pod is judged in every round.
	if ours := after-decided >= 2*benchPods; ours != mode.ours {
		return 0, fmt.Errorf("the server decided %d times about %d pods", after-decided, benchPods)
	}
	answers := c.gate.answered.Load() - answered
	if gate := answers >= benchPods; gate != mode.gate {
		return 0, fmt.Errorf("the other webhook answered %d times about %d pods", answers, benchPods)
	}
	return rate, nil
}

// burst creates the pods while no scheduler runs, lets a new one bind them all, and removes them. It returns how many were
// bound a second, from the first to the last.
func (c *cluster) burst(ctx context.Context, namespace string) (float64, error) {
	c.scheduler.stop()
	for n := range benchPods {
		name := fmt.Sprintf("pod-%d", n)
		if err := c.createPod(ctx, podOf(namespace, name, name)); err != nil {
			return 0, err
		}
	}
	bound, err := c.watchBindings(ctx, namespace)
	if err != nil {
		return 0, err
	}
	defer bound.stop()
	if err := c.runScheduler(ctx); err != nil {
		return 0, err
	}
	if err := eventually(ctx, "every pod is bound", c.scheduler, func() error {
		if count := bound.count(); count < benchPods {
			return fmt.Errorf("%d of %d are", count, benchPods)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	for n := range benchPods {
		if err := c.endPod(ctx, namespace, fmt.Sprintf("pod-%d", n)); err != nil {
			return 0, err
		}
	}
	return float64(benchPods-1) / bound.took().Seconds(), nil
}

// boundPods are the pods of a namespace that were seen with a node, in the order in which they got it.
type boundPods struct {
	mutex sync.Mutex
	nodes map[string]string
	times []time.Time
	stop  func()
}

func (c *cluster) watchBindings(ctx context.Context, namespace string) (*boundPods, error) {
	bound := &boundPods{nodes: map[string]string{}}
	var err error
	bound.stop, err = c.watchPods(ctx, namespace, func(pod *corev1.Pod, _ bool) {
		bound.mutex.Lock()
		defer bound.mutex.Unlock()
		if _, known := bound.nodes[pod.Name]; !known && pod.Spec.NodeName != "" {
			bound.nodes[pod.Name] = pod.Spec.NodeName
			bound.times = append(bound.times, time.Now())
		}
	})
	return bound, err
}

func (b *boundPods) count() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.times)
}

func (b *boundPods) took() time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.times[len(b.times)-1].Sub(b.times[0])
}
