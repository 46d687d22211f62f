package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func (c *cluster) namespace(ctx context.Context, name string) error {
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.client.CoreV1().Namespaces().Create(ctx, made, metav1.CreateOptions{})
	return err
}

// node makes a node. There is no kubelet, so it has no room for pods until `hasRoom`.
func (c *cluster) node(ctx context.Context, name string, labels map[string]string) error {
	made := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	for key, value := range labels {
		made.Labels[key] = value
	}
	if _, err := c.client.CoreV1().Nodes().Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Admission says of every new node that it is not ready.
	return c.taint(ctx, name, nil)
}

// hasRoom says of a node what its kubelet would say.
func (c *cluster) hasRoom(ctx context.Context, name string) error {
	node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods: resource.MustParse("500"),
	}
	node.Status.Capacity = node.Status.Allocatable
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = c.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// taint gives a node exactly these taints, as `kubectl taint` does; a rehearsal is judged and not stored.
func (c *cluster) taint(ctx context.Context, node string, taints []corev1.Taint, rehearsal ...string) error {
	written := "null"
	if len(taints) > 0 {
		var each []string
		for _, taint := range taints {
			each = append(each, fmt.Sprintf(`{"key":%q,"value":%q,"effect":%q}`, taint.Key, taint.Value, taint.Effect))
		}
		written = "[" + strings.Join(each, ",") + "]"
	}
	_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType,
		[]byte(`{"spec":{"taints":`+written+`}}`), metav1.PatchOptions{DryRun: rehearsal})
	return err
}

// podOf is a pod that uses these claims.
func podOf(namespace, name string, claims ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "it", Image: "example.com/it"}}},
	}
	for _, claim := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	return pod
}

func (c *cluster) createPod(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// endPod removes a pod at once: there is no kubelet that would end it.
func (c *cluster) endPod(ctx context.Context, namespace, name string) error {
	immediately := int64(0)
	return c.client.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &immediately})
}

// nodeOf is the node that a pod is bound to, and what the scheduler says of a pod that it has not placed.
func (c *cluster) nodeOf(ctx context.Context, namespace, name string) (node, verdict string, err error) {
	pod, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", "", err
	}
	return pod.Spec.NodeName, verdictOn(pod), nil
}

func verdictOn(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}

// isBoundTo waits until a pod is bound, and wants it to be bound to this node.
func (c *cluster) isBoundTo(ctx context.Context, namespace, name, wanted string) error {
	var node string
	if err := within(20*time.Second, "pod `"+name+"` is bound", func() error {
		bound, verdict, err := c.nodeOf(ctx, namespace, name)
		if err != nil {
			return err
		}
		if node = bound; node == "" {
			return fmt.Errorf("the scheduler says %q", verdict)
		}
		return nil
	}); err != nil {
		return err
	}
	if node != wanted {
		return fmt.Errorf("pod `%s` is bound to `%s`, and not to `%s`", name, node, wanted)
	}
	return nil
}

// storage makes a CSI volume for the nodes of these zones, and the claim of this name that has it.
func (c *cluster) storage(ctx context.Context, namespace, name string, mode corev1.PersistentVolumeAccessMode, zones ...string) error {
	volume := volumeOf(namespace, name, mode)
	volume.Spec.NodeAffinity = inZones(zones...)
	return c.claim(ctx, volume)
}

func inZones(zones ...string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: zones},
		},
	}}}}
}

// volumeOf is a CSI volume that the claim of the same name has.
func volumeOf(namespace, name string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{mode},
			ClaimRef:    &corev1.ObjectReference{Namespace: namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: "example.com", VolumeHandle: namespace + "-" + name,
			}},
		},
	}
}

// claim stores a volume with its claim. The binder connects them.
func (c *cluster) claim(ctx context.Context, volume *corev1.PersistentVolume) error {
	if _, err := c.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		return err
	}
	class := ""
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: volume.Spec.ClaimRef.Namespace, Name: volume.Spec.ClaimRef.Name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: volume.Spec.AccessModes, VolumeName: volume.Name, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: volume.Spec.Capacity},
		},
	}
	_, err := c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(ctx, claim, metav1.CreateOptions{})
	return err
}

// claimsAreBound waits for the binder.
func (c *cluster) claimsAreBound(ctx context.Context, namespace string) error {
	return eventually(ctx, "the claims are bound", nil, func() error {
		claims, err := c.client.CoreV1().PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range claims.Items {
			if claim.Spec.VolumeName != "" && claim.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("claim `%s` is %s", claim.Name, claim.Status.Phase)
			}
		}
		return nil
	})
}

// watchPods calls with each pod of a namespace that it sees, and with each that is gone, until it is stopped. The API server
// ends a watch that cannot keep up; an informer then begins another one.
func (c *cluster) watchPods(
	ctx context.Context, namespace string, see func(pod *corev1.Pod, gone bool),
) (stop func(), err error) {
	ctx, stop = context.WithCancel(ctx)
	informer := informers.NewSharedInformerFactoryWithOptions(c.client, 0, informers.WithNamespace(namespace)).
		Core().V1().Pods().Informer()
	saw := func(object any, gone bool) {
		if last, is := object.(cache.DeletedFinalStateUnknown); is {
			object = last.Obj
		}
		if pod, is := object.(*corev1.Pod); is {
			see(pod, gone)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { saw(object, false) },
		UpdateFunc: func(_, object any) { saw(object, false) },
		DeleteFunc: func(object any) { saw(object, true) },
	}); err != nil {
		return stop, err
	}
	go informer.Run(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return stop, errors.New("the pods cannot be listed")
	}
	return stop, nil
}
