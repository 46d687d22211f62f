package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	evictionSeed  = 5
	evictionNodes = 8
	// A message names that many pods of one owner and time.
	podsOnANode = 5
	longestStay = 6
	tolerance   = 2 * time.Second
)

// forecastEvictions taints nodes twice, each time after a rehearsal whose warning says which pods go, and when. Every pod
// must be deleted when that was said, and no other.
func (c *cluster) forecastEvictions(ctx context.Context) error {
	random := rand.New(rand.NewPCG(evictionSeed, 0))
	const namespace = "evictions"
	if err := c.namespace(ctx, namespace); err != nil {
		return err
	}
	lists := map[string][]corev1.Toleration{}
	for n := range evictionNodes {
		node := fmt.Sprintf("evicting-%d", n)
		if err := c.node(ctx, node, nil); err != nil {
			return err
		}
		for p := range podsOnANode {
			pod := podOf(namespace, fmt.Sprintf("pod-%d-%d", n, p))
			pod.Spec.NodeName, pod.Spec.Tolerations = node, randomTolerations(random)
			if err := c.createPod(ctx, pod); err != nil {
				return err
			}
			lists[pod.Name] = pod.Spec.Tolerations
		}
	}
	if err := c.holdsPods(ctx); err != nil {
		return err
	}
	seen, err := c.watchDepartures(ctx, namespace)
	if err != nil {
		return err
	}
	defer seen.stop()
	expected := map[string]going{}
	var last time.Time
	first, second := make([][]corev1.Taint, evictionNodes), make([][]corev1.Taint, evictionNodes)
	for n := range evictionNodes {
		taints := randomTaints(random)
		first[n], second[n] = taints[:1], taints
		if n%4 == 3 {
			first[n], second[n] = taints, nil
		}
	}
	for _, round := range [][][]corev1.Taint{first, second} {
		for n, taints := range round {
			if taints == nil {
				continue
			}
			node := fmt.Sprintf("evicting-%d", n)
			forecast, err := c.forecast(ctx, node, taints)
			if err != nil {
				return err
			}
			if err := c.taint(ctx, node, taints); err != nil {
				return err
			}
			last = time.Now()
			for pod, stay := range forecast {
				goes := going{at: last.Add(stay), after: stay}
				if known, is := expected[pod]; !is || goes.at.Before(known.at) {
					expected[pod] = goes
				}
			}
		}
		time.Sleep(2500 * time.Millisecond)
	}
	// Longer than any pod may stay, so that one that was not to go would have gone.
	time.Sleep(time.Until(last.Add(longestStay*time.Second + tolerance)))
	return c.compareEvictions(expected, seen, lists)
}

// going is when a pod should be evicted, and how long after the taint.
type going struct {
	at    time.Time
	after time.Duration
}

func (c *cluster) compareEvictions(
	expected map[string]going, seen *departures, lists map[string][]corev1.Toleration,
) error {
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	var atOnce, later int
	var worst time.Duration
	for pod, list := range lists {
		forecast, goes := expected[pod]
		left, gone := seen.at[pod]
		if goes != gone {
			return fmt.Errorf("pod `%s`: forecast %v (%v), evicted %v; tolerations %s (seed %d)",
				pod, goes, forecast.after, gone, shownAs(list), evictionSeed)
		}
		if !goes {
			continue
		}
		off := left.Sub(forecast.at).Abs()
		if worst = max(worst, off); off > tolerance {
			return fmt.Errorf("pod `%s` was evicted %v from the forecast; tolerations %s (seed %d)",
				pod, off, shownAs(list), evictionSeed)
		}
		if forecast.after == 0 {
			atOnce++
		} else {
			later++
		}
	}
	stay := len(lists) - atOnce - later
	if atOnce == 0 || later == 0 || stay == 0 {
		return fmt.Errorf("the lists show too little: %d go at once, %d later, %d stay", atOnce, later, stay)
	}
	c.saw("of %d pods %d went at once, %d later and %d stayed, all as forecast and at most %.1f s from it (seed %d)",
		len(lists), atOnce, later, stay, worst.Seconds(), evictionSeed)
	return nil
}

func shownAs(tolerations []corev1.Toleration) string {
	text, err := json.Marshal(tolerations)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var (
	evictedPods = regexp.MustCompile("^without a controller in `evictions`, \\d+ pods? (at once|after (\\d+) s): (.*)$")
	podName     = regexp.MustCompile("`([^`]+)`")
)

// forecast rehearses the taints, and returns how long each pod that goes may stay, as the warning says it.
func (c *cluster) forecast(ctx context.Context, node string, taints []corev1.Taint) (map[string]time.Duration, error) {
	c.api.warnings()
	if err := c.taint(ctx, node, taints, metav1.DryRunAll); err != nil {
		return nil, err
	}
	stays, said := map[string]time.Duration{}, 0
	heard := c.api.warnings()
	for _, warning := range heard {
		if !strings.HasPrefix(warning, "taint evicts: ") {
			return nil, fmt.Errorf("another warning: %s", warning)
		}
		count, _, _ := strings.Cut(warning[strings.Index(warning, " evicts ")+len(" evicts "):], " ")
		said, _ = strconv.Atoi(count)
		for _, part := range strings.Split(warning, "; ") {
			found := evictedPods.FindStringSubmatch(part)
			if found == nil {
				continue
			}
			seconds, _ := strconv.Atoi(found[2])
			for _, name := range podName.FindAllStringSubmatch(found[3], -1) {
				stays[name[1]] = time.Duration(seconds) * time.Second
			}
		}
	}
	if len(stays) != said {
		return nil, fmt.Errorf("%d pods go, and these are named: %v in %q", said, stays, heard)
	}
	return stays, nil
}

const numericKey, wordKey = "failure-probability", "maintenance"

// randomTaints is one taint of each key, in any order.
func randomTaints(random *rand.Rand) []corev1.Taint {
	word := []string{"", "soon", "7", "07"}[random.IntN(4)]
	taints := []corev1.Taint{
		{Key: numericKey, Value: strconv.Itoa(random.IntN(20)), Effect: corev1.TaintEffectNoExecute},
		{Key: wordKey, Value: word, Effect: corev1.TaintEffectNoExecute},
	}
	random.Shuffle(len(taints), func(i, j int) { taints[i], taints[j] = taints[j], taints[i] })
	return taints
}

// randomTolerations is a list in which order, numbers and seconds all matter.
func randomTolerations(random *rand.Rand) []corev1.Toleration {
	list := make([]corev1.Toleration, 1+random.IntN(6))
	for i := range list {
		it := &list[i]
		switch of := random.IntN(10); {
		case of < 2:
			it.Operator = corev1.TolerationOpExists
		case of < 6:
			it.Key = numericKey
			it.Operator = []corev1.TolerationOperator{
				corev1.TolerationOpGt, corev1.TolerationOpLt, corev1.TolerationOpGt, corev1.TolerationOpLt,
				corev1.TolerationOpEqual, corev1.TolerationOpExists,
			}[random.IntN(6)]
		default:
			it.Key = wordKey
			it.Operator = []corev1.TolerationOperator{
				corev1.TolerationOpExists, corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt,
			}[random.IntN(4)]
		}
		switch it.Operator {
		case corev1.TolerationOpGt, corev1.TolerationOpLt:
			it.Value = strconv.Itoa(random.IntN(20))
		case corev1.TolerationOpEqual:
			it.Value = []string{"", "soon", "7", strconv.Itoa(random.IntN(20))}[random.IntN(4)]
		}
		switch random.IntN(5) {
		case 0:
		case 1, 2:
			it.Effect = corev1.TaintEffectNoExecute
		default:
			it.Effect = corev1.TaintEffectNoExecute
			seconds := int64(random.IntN(longestStay+3)) - 2
			it.TolerationSeconds = &seconds
		}
	}
	return list
}

// departures are the pods of a namespace that were deleted, and when that was seen.
type departures struct {
	mutex sync.Mutex
	at    map[string]time.Time
	stop  func()
}

func (c *cluster) watchDepartures(ctx context.Context, namespace string) (*departures, error) {
	seen := &departures{at: map[string]time.Time{}}
	var err error
	seen.stop, err = c.watchPods(ctx, namespace, func(pod *corev1.Pod, gone bool) {
		seen.mutex.Lock()
		defer seen.mutex.Unlock()
		if _, known := seen.at[pod.Name]; !known && (gone || pod.DeletionTimestamp != nil) {
			seen.at[pod.Name] = time.Now()
		}
	})
	return seen, err
}
