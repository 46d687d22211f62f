package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// olderChart is the chart as a release before it would be: of another version.
func (c *cluster) olderChart() (string, error) {
	older := c.file("older-chart")
	if err := os.CopyFS(older, os.DirFS(filepath.Join(c.repository, chart))); err != nil {
		return "", err
	}
	file := filepath.Join(older, "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "version: ") {
			lines[i] = "version: 0.0.9"
		}
	}
	return older, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600)
}

// definitions applies definitions of custom resources, and waits for their kinds.
func (c *cluster) definitions(ctx context.Context, path string) error {
	found, err := objects(path, nil)
	if err != nil {
		return err
	}
	for _, each := range found {
		if err := c.api.apply(ctx, each); err != nil {
			return fmt.Errorf("%s: %w", each.GetName(), err)
		}
		if err := eventually(ctx, each.GetName(), nil, func() error {
			stored, err := c.api.get(ctx, each)
			if err != nil {
				return err
			}
			conditions, _, _ := unstructured.NestedSlice(stored.Object, "status", "conditions")
			for _, condition := range conditions {
				if members := condition.(map[string]any); members["type"] == "Established" && members["status"] == "True" {
					return nil
				}
			}
			return errors.New("not established")
		}); err != nil {
			return err
		}
	}
	return nil
}

const refuses = `
webhook:
  failurePolicy: Fail
  settings: {volumeNodeAffinity: {allow: [widened]}}
`

// chartAsWebhook installs the chart of the release before, upgrades it to settings that refuse, and uninstalls it.
func (c *cluster) chartAsWebhook(ctx context.Context) error {
	if err := c.becomeAdmin(); err != nil {
		return err
	}
	if err := c.definitions(ctx, c.program("cert-manager-crds")); err != nil {
		return err
	}
	const namespace = "guarded-by-helm"
	if _, err := c.shell(ctx, "kubectl create namespace "+namespace+
		" && kubectl label namespace "+namespace+" pod-security.kubernetes.io/enforce=restricted"); err != nil {
		return err
	}
	before, err := c.inventory(ctx)
	if err != nil {
		return err
	}
	older, err := c.olderChart()
	if err != nil {
		return err
	}
	p, err := c.play(namespace)
	if err != nil {
		return err
	}
	notes, err := c.shell(ctx, "helm install placement-guard "+older+" --namespace "+namespace)
	if err != nil {
		return err
	}
	if err := contains(notes, "See the first warning", "kubectl label --overwrite pv placement-guard-demo"); err != nil {
		return err
	}
	stored, err := p.settle(ctx)
	if err != nil {
		return err
	}
	if err := p.podsAreAllowed(ctx); err != nil {
		return err
	}
	if err := c.notesAreTrue(ctx, notes); err != nil {
		return err
	}
	// Helm compares with what it made, not with what leads to the program here.
	if err := p.update(ctx, stored); err != nil {
		return err
	}
	values := c.file("refuses.yaml")
	if err := os.WriteFile(values, []byte(refuses), 0o600); err != nil {
		return err
	}
	upgrade := fmt.Sprintf("helm upgrade placement-guard %s --namespace %s --reset-then-reuse-values --values %s", chart, namespace, values)
	if _, err := c.shell(ctx, upgrade); err != nil {
		return err
	}
	ran := p.provider.process
	if stored, err = p.settle(ctx); err != nil {
		return err
	}
	if p.provider.process == ran {
		return errors.New("other settings did not make other pods")
	}
	if err := c.refusesAfterUpgrade(ctx, p); err != nil {
		return err
	}
	if err := p.update(ctx, stored); err != nil {
		return err
	}
	history, err := c.shell(ctx, "helm history placement-guard --namespace "+namespace)
	if err != nil {
		return err
	}
	if err := contains(history, "placement-guard-0.0.9", "Upgrade complete"); err != nil {
		return err
	}
	if _, err := c.shell(ctx, "helm uninstall placement-guard --wait --namespace "+namespace); err != nil {
		return err
	}
	p.stops()
	if err := p.forgets(ctx, "placement-guard-ca", "placement-guard-tls"); err != nil {
		return err
	}
	return c.left(ctx, before)
}

// settle plays until the release runs, and its webhook calls it.
func (p *played) settle(ctx context.Context) (*unstructured.Unstructured, error) {
	if err := p.issues(ctx); err != nil {
		return nil, err
	}
	if err := p.starts(ctx); err != nil {
		return nil, err
	}
	printed, err := p.cluster.shell(ctx, "kubectl --namespace "+p.namespace+" rollout status deployment placement-guard --timeout=10s")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", printed, err)
	}
	return p.leads(ctx)
}

// podsAreAllowed wants the API server to take a pod of the release into its namespace, which enforces a security standard.
func (p *played) podsAreAllowed(ctx context.Context) error {
	deployment, err := p.get(ctx, "apps/v1", "Deployment", release)
	if err != nil {
		return err
	}
	return p.cluster.podIsAllowed(ctx, deployment, p.namespace)
}

// notesAreTrue runs what the notes of the chart show, from the volume to its end.
func (c *cluster) notesAreTrue(ctx context.Context, notes string) error {
	_, shown, _ := strings.Cut(notes, "zone.\n\n  echo ")
	shown, wanted, isThere := strings.Cut("echo "+shown, "  kubectl delete pv placement-guard-demo\n")
	if !isThere {
		return fmt.Errorf("the notes show no example: %s", notes)
	}
	create, label, _ := strings.Cut(shown, "  kubectl label ")
	label = "kubectl label " + label
	_, wanted, _ = strings.Cut(wanted, "It says \"")
	wanted, _, _ = strings.Cut(wanted, "\"")
	if _, err := c.shell(ctx, create); err != nil {
		return err
	}
	label = strings.TrimSpace(label) + " --dry-run=server"
	err := eventually(ctx, "the notes", nil, func() error {
		printed, err := c.shell(ctx, label)
		if err != nil {
			return err
		}
		return contains(printed, "Warning: "+wanted)
	})
	return errors.Join(err, c.deleteVolume(ctx, "placement-guard-demo"))
}

// deleteVolume removes a volume; the controller that would let it go does not run here.
func (c *cluster) deleteVolume(ctx context.Context, name string) error {
	volume := object("{apiVersion: v1, kind: PersistentVolume, metadata: {name: " + name + "}}")
	if err := c.api.delete(ctx, volume); err != nil {
		return err
	}
	return c.api.patch(ctx, volume, "{metadata: {finalizers: null}}", false)
}

// refusesAfterUpgrade wants the edits of the announcement refused, and nothing to pass once the program is down.
func (c *cluster) refusesAfterUpgrade(ctx context.Context, p *played) error {
	if err := c.api.create(ctx, zonal("charted", "us-east1-b, us-east1-c"), false); err != nil {
		return err
	}
	for _, edit := range []struct{ key, value, says string }{
		{zone, "us-east1-b", "node affinity narrowed: a node with `topology.kubernetes.io/zone=us-east1-c` loses volume `charted`"},
		{region, "us-east1", "node affinity shifted: a node"},
	} {
		if err := eventually(ctx, "the webhook refuses", p.provider.process, func() error {
			return refused(c.api.patch(ctx, zonal("charted", ""), edited(edit.key, edit.value), true), webhook, edit.says)
		}); err != nil {
			return err
		}
	}
	if err := c.api.patch(ctx, zonal("charted", ""), edited(zone, "us-east1-b, us-east1-c, us-east1-d"), true); err != nil {
		return fmt.Errorf("an edit that only widens: %w", err)
	}
	p.provider.process.kill()
	if err := c.refusesUnjudged(ctx, "unjudged-by-chart"); err != nil {
		return err
	}
	// The volume is no longer judged once nothing of its spec changes.
	return c.deleteVolume(ctx, "charted")
}
