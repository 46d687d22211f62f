package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// zonal is a volume that nodes of these zones can use.
func zonal(name, zones string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: example.com, volumeHandle: %s}
  %s
`, name, name, affinity("topology.kubernetes.io/zone", zones)))
}

func affinity(key, values string) string {
	return fmt.Sprintf(
		"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, values: [%s]}]}]}}",
		key, values)
}

// edited is the change of a volume's node affinity.
func edited(key, values string) string { return "{spec: {" + affinity(key, values) + "}}" }

// pod with one toleration.
func pod(name, toleration string) *unstructured.Unstructured {
	return object(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: default}
spec:
  containers: [{name: it, image: example.com/it}]
  tolerations: [%s]
`, name, toleration))
}

const (
	zone   = "topology.kubernetes.io/zone"
	region = "topology.kubernetes.io/region"

	driver = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: example.com}
spec: {tokenRequests: [{audience: example, expirationSeconds: 3600}], requiresRepublish: true}
`
	allowedToleration = `{key: failure-probability, operator: Lt, value: "20", effect: NoExecute, tolerationSeconds: 60}`
	otherToleration   = `{key: failure-probability, operator: Lt, value: "40", effect: NoExecute, tolerationSeconds: 60}`
)

// refused wants an error of admission that says so.
func refused(err error, by, says string) error {
	if err == nil {
		return fmt.Errorf("accepted, and expected is a refusal that says %q", says)
	}
	whole := fmt.Sprintf("admission webhook %q denied the request: %s", by, says)
	if !strings.Contains(err.Error(), whole) {
		return fmt.Errorf("expected %q, got: %w", whole, err)
	}
	return nil
}

// byConstraint wants a refusal by one of our constraints.
func byConstraint(err error, constraint, says string) error {
	return refused(err, "validation.gatekeeper.sh", fmt.Sprintf("[%s] %s", constraint, says))
}

func (c *cluster) warnsAsShipped(ctx context.Context) error {
	if err := c.api.create(ctx, zonal("shipped", "us-east1-b, us-east1-c"), false); err != nil {
		return err
	}
	wanted := "[volume-node-affinity] node affinity narrowed: a node with `topology.kubernetes.io/zone=us-east1-c` " +
		"loses volume `shipped`"
	// A constraint takes a moment to come into force.
	return eventually(ctx, "a warning", nil, func() error {
		c.api.warnings()
		if err := c.api.patch(ctx, zonal("shipped", ""), edited(zone, "us-east1-b"), true); err != nil {
			return err
		}
		heard := c.api.warnings()
		for _, warning := range heard {
			if strings.Contains(warning, wanted) {
				return nil
			}
		}
		return fmt.Errorf("expected %q, heard %q", wanted, heard)
	})
}

// auditLists wants a node that was there with its taint in the status of the constraint.
func (c *cluster) auditLists(ctx context.Context) error {
	node := object(`
apiVersion: v1
kind: Node
metadata: {name: tainted}
spec: {taints: [{key: failure-probability, value: high, effect: NoExecute}]}
`)
	if err := c.api.create(ctx, node, false); err != nil {
		return err
	}
	constraint, err := c.constraint("node-taints")
	if err != nil {
		return err
	}
	return eventually(ctx, "an audit", nil, func() error {
		stored, err := c.api.get(ctx, constraint)
		if err != nil {
			return err
		}
		violations, _, err := unstructured.NestedSlice(stored.Object, "status", "violations")
		if err != nil {
			return err
		}
		if len(violations) != 1 {
			return fmt.Errorf("the status has the violations %v", violations)
		}
		wanted := "taint not numeric: `failure-probability=high:NoExecute` on node `tainted` is not tolerated by any `Gt` or `Lt`"
		message, _ := violations[0].(map[string]any)["message"].(string)
		if !strings.HasPrefix(message, wanted) {
			return fmt.Errorf("expected %q, got %q", wanted, message)
		}
		return nil
	})
}

// enforce changes a constraint, and waits until what it should refuse is refused.
func (c *cluster) enforce(ctx context.Context, file, change string, inForce func() error) error {
	constraint, err := c.constraint(file)
	if err != nil {
		return err
	}
	if err := c.api.patch(ctx, constraint, change, false); err != nil {
		return err
	}
	return eventually(ctx, file+" is in force", nil, inForce)
}

const deny = "{spec: {enforcementAction: deny, scopedEnforcementActions: null}}"

func (c *cluster) narrowingIsRefused(ctx context.Context) error {
	return c.enforce(ctx, "volume-node-affinity", deny, func() error {
		err := c.api.patch(ctx, zonal("shipped", ""), edited(zone, "us-east1-b"), true)
		return byConstraint(err, "volume-node-affinity",
			"node affinity narrowed: a node with `topology.kubernetes.io/zone=us-east1-c` loses volume `shipped`")
	})
}

// The edit of Kubernetes' announcement of mutable node affinity.
func (c *cluster) announcement(ctx context.Context) error {
	if err := c.api.create(ctx, zonal("announced", "us-east1-b"), false); err != nil {
		return err
	}
	edit := func(rehearsal bool) error {
		return c.api.patch(ctx, zonal("announced", ""), edited(region, "us-east1"), rehearsal)
	}
	if err := byConstraint(edit(false), "volume-node-affinity", "node affinity shifted: a node"); err != nil {
		return err
	}
	zones := "{spec: {parameters: {topology: {zones: {us-east1: [us-east1-b, us-east1-c]}}}}}"
	if err := c.enforce(ctx, "volume-node-affinity", zones, func() error { return edit(true) }); err != nil {
		return err
	}
	return edit(false)
}

func (c *cluster) tolerations(ctx context.Context) error {
	if err := c.enforce(ctx, "tolerations", deny, func() error {
		err := c.api.create(ctx, pod("tolerant", otherToleration), true)
		return byConstraint(err, "tolerations", "toleration not allowed: tolerates `failure-probability=")
	}); err != nil {
		return err
	}
	return c.api.create(ctx, pod("tolerant", allowedToleration), false)
}

// Gatekeeper turns numbers into floating-point ones on the way to Rego, which prints them with an exponent.
func (c *cluster) largeNumbers(ctx context.Context) error {
	for _, seconds := range []string{"31536000", "4294967296"} {
		toleration := strings.Replace(allowedToleration, "tolerationSeconds: 60", "tolerationSeconds: "+seconds, 1)
		err := c.api.create(ctx, pod("patient", toleration), true)
		if err := byConstraint(err, "tolerations", "toleration seconds exceeded: the pod stays "+seconds+" s on a node with"); err != nil {
			return err
		}
	}
	// Beyond 2^53 some bits are lost, and nothing else.
	toleration := strings.Replace(allowedToleration, "tolerationSeconds: 60", "tolerationSeconds: 9223372036854775807", 1)
	err := c.api.create(ctx, pod("patient", toleration), true)
	return byConstraint(err, "tolerations", "toleration seconds exceeded: the pod stays 922337203685477")
}

func (c *cluster) driverTokens(ctx context.Context) error {
	return c.enforce(ctx, "csi-driver-tokens", deny, func() error {
		return byConstraint(c.api.create(ctx, object(driver), true), "csi-driver-tokens",
			"token in volume context: driver `example.com` gets service-account tokens in `volume_context`")
	})
}

func (c *cluster) outage(ctx context.Context) error {
	c.provider.process.kill()
	// A question that was answered before is answered from Gatekeeper's cache, so these are new.
	ask := func(name, seconds string) error {
		toleration := strings.Replace(allowedToleration, "tolerationSeconds: 60", "tolerationSeconds: "+seconds, 1)
		return c.api.create(ctx, pod(name, toleration), true)
	}
	if err := byConstraint(ask("down", "61"), "tolerations",
		"placement-guard gave no decision, so the request is refused: failed to send external data request"); err != nil {
		return err
	}
	if err := c.refusesUnjudged(ctx, "untouched"); err != nil {
		return err
	}
	if err := c.runProvider(ctx); err != nil {
		return err
	}
	return ask("up", "62")
}

// refusesUnjudged fails if the cluster accepts a new volume while no server of ours runs.
func (c *cluster) refusesUnjudged(ctx context.Context, volume string) error {
	if err := c.api.create(ctx, zonal(volume, "us-east1-b"), false); err == nil {
		return fmt.Errorf("a volume was accepted while no server could judge it")
	}
	return nil
}
