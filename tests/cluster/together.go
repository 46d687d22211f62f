package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	togetherSeed  = 5
	togetherPods  = 60
	togetherNodes = 6
	together      = "together"
	diskLabel     = "example.com/disk"
	speedLabel    = "example.com/speed"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

var togetherZones = []string{"west-a", "west-b", "east-a"}

// unreachableTogether creates random pods with two volumes each among random nodes. A pod that the warning calls unreachable
// must never get a node, and one that the scheduler leaves waiting for its volumes must have been called so.
func (c *cluster) unreachableTogether(ctx context.Context) error {
	random := rand.New(rand.NewPCG(togetherSeed, 0))
	if err := c.namespace(ctx, together); err != nil {
		return err
	}
	if err := c.togetherNodes(ctx, random); err != nil {
		return err
	}
	classes, err := c.togetherClasses(ctx)
	if err != nil {
		return err
	}
	pods := make([]*corev1.Pod, togetherPods)
	for n := range pods {
		var claims []string
		for v := range 2 {
			name := fmt.Sprintf("pod-%d-%d", n, v)
			if err := c.togetherClaim(ctx, random, name, classes); err != nil {
				return err
			}
			claims = append(claims, name)
		}
		pods[n] = podOf(together, fmt.Sprintf("pod-%d", n), claims...)
		// Nodes of other steps take no part.
		pods[n].Spec.NodeSelector = map[string]string{"subject": together}
		switch random.IntN(6) {
		case 0:
			pods[n].Spec.NodeSelector[zone] = togetherZones[random.IntN(3)]
		case 1:
			pods[n].Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: randomSelector(random),
			}}
		}
	}
	if err := c.claimsAreBound(ctx, together); err != nil {
		return err
	}
	if err := c.holdsStorage(ctx); err != nil {
		return err
	}
	called := map[string]string{}
	for _, pod := range pods {
		c.api.warnings()
		if err := c.createPod(ctx, pod); err != nil {
			return err
		}
		for _, warning := range c.api.warnings() {
			headline := "volumes unreachable together: no"
			if !strings.HasPrefix(warning, headline) {
				return fmt.Errorf("another warning: %s", warning)
			}
			called[pod.Name] = warning
		}
	}
	// A verdict may come before the scheduler has heard of a volume: the last one counts.
	var verdicts map[string]string
	if err := eventually(ctx, "the scheduler's verdicts", c.scheduler, func() error {
		before := verdicts
		if verdicts, err = c.togetherVerdicts(ctx); err != nil {
			return err
		}
		if len(before) < togetherPods || fmt.Sprint(before) != fmt.Sprint(verdicts) {
			time.Sleep(2 * time.Second)
			return fmt.Errorf("%d of %d pods have one", len(verdicts), togetherPods)
		}
		return nil
	}); err != nil {
		return err
	}
	var placed, waiting, apart int
	for _, pod := range pods {
		verdict := verdicts[pod.Name]
		warning, isCalled := called[pod.Name]
		switch {
		case verdict == "" && isCalled:
			return fmt.Errorf("pod `%s` got a node, and we said %q (seed %d)", pod.Name, warning, togetherSeed)
		case verdict == "":
			placed++
		case !waitsForVolumes(verdict):
			apart++
		case !isCalled:
			return fmt.Errorf("pod `%s` waits, and we said nothing: %s (seed %d)", pod.Name, verdict, togetherSeed)
		default:
			waiting++
		}
	}
	if placed < togetherPods/5 || waiting < togetherPods/5 {
		return fmt.Errorf("the pods show too little: %d get a node, %d wait for volumes", placed, waiting)
	}
	c.saw("of %d pods %d got a node, %d wait for their volumes as we said, and %d for a node at all (seed %d)",
		togetherPods, placed, waiting, apart, togetherSeed)
	return nil
}

// waitsForVolumes is whether a node would do but for the volumes, as the scheduler says it.
func waitsForVolumes(verdict string) bool {
	for _, reason := range []string{
		"didn't match PersistentVolume's node affinity", "had no available volume zone",
		"didn't find available persistent volumes to bind",
	} {
		if strings.Contains(verdict, reason) {
			return true
		}
	}
	return false
}

func (c *cluster) togetherNodes(ctx context.Context, random *rand.Rand) error {
	for n := range togetherNodes {
		in := togetherZones[n%len(togetherZones)]
		labels := map[string]string{"subject": together, zone: in}
		labels[region], _, _ = strings.Cut(in, "-")
		if disk := random.IntN(3); disk > 0 {
			labels[diskLabel] = []string{"", "ssd", "hdd"}[disk]
		}
		if random.IntN(3) > 0 {
			labels[speedLabel] = strconv.Itoa(random.IntN(10))
		}
		name := fmt.Sprintf("together-%d", n)
		if err := c.node(ctx, name, labels); err != nil {
			return err
		}
		if err := c.hasRoom(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// togetherClasses make volumes where the pod gets its node: in one zone, in two, and anywhere.
func (c *cluster) togetherClasses(ctx context.Context) ([]string, error) {
	var names []string
	for name, zones := range map[string][]string{"one": {"west-a"}, "two": {"west-b", "east-a"}, "any": nil} {
		later := storagev1.VolumeBindingWaitForFirstConsumer
		class := &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: together + "-" + name}, Provisioner: "example.com", VolumeBindingMode: &later,
		}
		if zones != nil {
			class.AllowedTopologies = []corev1.TopologySelectorTerm{{
				MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: zones}},
			}}
		}
		if _, err := c.client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"one", "two", "any"} {
		names = append(names, together+"-"+name)
	}
	return names, nil
}

// togetherClaim makes a claim that has a random volume, or none before its pod has a node.
func (c *cluster) togetherClaim(ctx context.Context, random *rand.Rand, name string, classes []string) error {
	kind := random.IntN(10)
	if kind < 2 {
		class := classes[random.IntN(len(classes))]
		_, err := c.client.CoreV1().PersistentVolumeClaims(together).Create(ctx, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: together, Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceStorage: resource.MustParse("1Gi"),
				}},
			},
		}, metav1.CreateOptions{})
		return err
	}
	volume := volumeOf(together, name, corev1.ReadWriteOnce)
	if kind < 5 {
		in := togetherZones[random.IntN(3)]
		volume.Labels = []map[string]string{
			{zone: in}, {zone: in + "__" + togetherZones[random.IntN(3)]}, {region: "west"}, {zone: in, region: "east"},
		}[random.IntN(4)]
	}
	if kind > 3 {
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: randomSelector(random)}
	}
	return c.claim(ctx, volume)
}

func randomSelector(random *rand.Rand) *corev1.NodeSelector {
	selector := &corev1.NodeSelector{}
	for range 1 + random.IntN(2) {
		var term corev1.NodeSelectorTerm
		for range 1 + random.IntN(2) {
			term.MatchExpressions = append(term.MatchExpressions, randomRequirement(random))
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func randomRequirement(random *rand.Rand) corev1.NodeSelectorRequirement {
	one := togetherZones[random.IntN(3)]
	return []corev1.NodeSelectorRequirement{
		{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{one}},
		{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{one, togetherZones[random.IntN(3)]}},
		{Key: zone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{one}},
		{Key: region, Operator: corev1.NodeSelectorOpIn, Values: []string{[]string{"west", "east"}[random.IntN(2)]}},
		{Key: diskLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{[]string{"ssd", "hdd"}[random.IntN(2)]}},
		{Key: diskLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ssd"}},
		{Key: diskLabel, Operator: corev1.NodeSelectorOpDoesNotExist},
		{Key: speedLabel, Operator: corev1.NodeSelectorOpExists},
		{Key: speedLabel, Operator: corev1.NodeSelectorOpGt, Values: []string{strconv.Itoa(random.IntN(8))}},
		{Key: speedLabel, Operator: corev1.NodeSelectorOpLt, Values: []string{strconv.Itoa(1 + random.IntN(8))}},
	}[random.IntN(10)]
}

// togetherVerdicts is what the scheduler says of each pod, and nothing of one that has a node. A pod with claims of classes
// above has one when they name it: no provisioner makes the volumes.
func (c *cluster) togetherVerdicts(ctx context.Context) (map[string]string, error) {
	claims, err := c.client.CoreV1().PersistentVolumeClaims(together).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	chosen := map[string]bool{}
	for _, claim := range claims.Items {
		chosen[claim.Name] = claim.Annotations[selectedNode] != ""
	}
	pods, err := c.client.CoreV1().Pods(together).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	verdicts := map[string]string{}
	for i, pod := range pods.Items {
		isPlaced := pod.Spec.NodeName != ""
		for _, volume := range pod.Spec.Volumes {
			isPlaced = isPlaced || chosen[volume.PersistentVolumeClaim.ClaimName]
		}
		if verdict := verdictOn(&pods.Items[i]); isPlaced {
			verdicts[pod.Name] = ""
		} else if verdict != "" {
			verdicts[pod.Name] = verdict
		}
	}
	return verdicts, nil
}

// holdsStorage waits until the server holds every claim, class and node. It reads volumes one by one.
func (c *cluster) holdsStorage(ctx context.Context) error {
	all := metav1.ListOptions{}
	for kind, count := range map[string]func() (int, error){
		"PersistentVolumeClaim": func() (int, error) {
			list, err := c.client.CoreV1().PersistentVolumeClaims("").List(ctx, all)
			return len(list.Items), err
		},
		"StorageClass": func() (int, error) {
			list, err := c.client.StorageV1().StorageClasses().List(ctx, all)
			return len(list.Items), err
		},
		"Node": func() (int, error) {
			list, err := c.client.CoreV1().Nodes().List(ctx, all)
			return len(list.Items), err
		},
	} {
		if err := c.holds(ctx, kind, count); err != nil {
			return err
		}
	}
	return nil
}
