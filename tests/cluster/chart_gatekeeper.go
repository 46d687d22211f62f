package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	stop := p.meanwhile(ctx, p.issues, p.starts, p.provides)
	err = c.walk(ctx, "I run Gatekeeper", c.valuesAreTaken)
	// What went wrong there may say why a command failed.
	if played := stop(); err != nil {
		return errors.Join(err, played)
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

// valuesAreTaken lets the API server check, without storing it, what the chart makes of many values. The kinds of the
// constraints must be there.
func (c *cluster) valuesAreTaken(ctx context.Context) error {
	ca, err := c.authorityFile()
	if err != nil {
		return err
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	for _, each := range renderings(ca, pem) {
		// In a namespace that exists, under names that no release has.
		each.name, each.namespace = "rehearsed", "gatekeeper-system"
		each.values = strings.Replace(each.values, "fullnameOverride: judge", "", 1)
		if _, err := c.renderedAs(ctx, each); err != nil {
			return err
		}
		if _, err := c.shell(ctx, "kubectl apply --server-side --force-conflicts --field-manager=rehearsal --dry-run=server "+
			"--validate=strict --filename="+c.file("rendered.yaml")); err != nil {
			return fmt.Errorf("%s: %w", each.what, err)
		}
	}
	return nil
}
