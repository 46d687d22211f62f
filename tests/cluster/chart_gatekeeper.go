package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// doorOfGatekeeper walks through the second door of docs/start.md: the chart as a provider, from nothing to nothing.
func (c *cluster) doorOfGatekeeper(ctx context.Context) error {
	before, err := c.inventory(ctx)
	if err != nil {
		return err
	}
	p, err := c.play("gatekeeper-system")
	if err != nil {
		return err
	}
	// Gatekeeper makes this secret where it makes its certificates itself.
	if err := p.storeSecret(ctx, "gatekeeper-webhook-server-cert", map[string][]byte{"ca.crt": c.authority.pem}); err != nil {
		return err
	}
	stop := p.meanwhile(ctx, p.issues, p.starts, p.provides, c.valuesAreTaken)
	if err := errors.Join(c.walk(ctx, "I run Gatekeeper"), stop()); err != nil {
		return err
	}
	p.stops()
	if err := p.forgets(ctx, "gatekeeper-webhook-server-cert", "placement-guard-ca", "placement-guard-tls"); err != nil {
		return err
	}
	if err := c.deleteVolume(ctx, "demo"); err != nil {
		return err
	}
	return eventually(ctx, "nothing is left", nil, func() error {
		if err := c.collects(ctx); err != nil {
			return err
		}
		return c.left(ctx, before)
	})
}

// collects removes the kinds of constraints whose templates are gone, as the garbage collector would: it does not run here.
func (c *cluster) collects(ctx context.Context) error {
	printed, err := c.shell(ctx, "kubectl get crd --output=name")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(printed) {
		_, kind, _ := strings.Cut(name, "/")
		if !strings.HasPrefix(kind, "placementguard") {
			continue
		}
		definition, err := c.api.get(ctx, object("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "+kind+"}}"))
		if err != nil {
			return err
		}
		owners := definition.GetOwnerReferences()
		if len(owners) != 1 || owners[0].Kind != "ConstraintTemplate" {
			return fmt.Errorf("%s belongs to %v", kind, owners)
		}
		if definition.GetDeletionTimestamp() == nil {
			if err := c.api.delete(ctx, definition); err != nil {
				return err
			}
		}
	}
	return nil
}

// valuesAreTaken rehearses, once the kinds of the constraints are there, everything that the chart makes of many values.
func (c *cluster) valuesAreTaken(ctx context.Context) error {
	done := c.file("values-are-taken")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	constraint := object("{apiVersion: constraints.gatekeeper.sh/v1beta1, kind: PlacementGuardVolumeNodeAffinity, metadata: {name: volume-node-affinity}}")
	if _, err := c.api.get(ctx, constraint); err != nil {
		// Not yet.
		return nil
	}
	ca := c.file("some-ca.crt")
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	for _, each := range renderings(ca, pem) {
		// In a namespace that exists, under names that no release has.
		each.name, each.namespace = "rehearsed", "gatekeeper-system"
		each.values = strings.Replace(each.values, "fullnameOverride: judge", "", 1)
		found, err := c.renderedAs(ctx, each)
		if err != nil {
			return err
		}
		for _, object := range found {
			if err := c.rehearse(ctx, object); err != nil {
				return fmt.Errorf("%s: %s `%s`: %w", each.what, object.GetKind(), object.GetName(), err)
			}
		}
	}
	return os.WriteFile(done, nil, 0o600)
}

// rehearse asks the API server to take an object without storing it.
func (c *cluster) rehearse(ctx context.Context, object *unstructured.Unstructured) error {
	if stored, err := c.api.get(ctx, object); err == nil {
		// The templates, the constraints and the provider have the same name in every release.
		object = object.DeepCopy()
		object.SetResourceVersion(stored.GetResourceVersion())
		object.SetName(object.GetName() + "-rehearsed")
		if object.GetKind() == "ConstraintTemplate" {
			return nil
		}
	}
	object.SetResourceVersion("")
	return c.api.create(ctx, object, true)
}
