package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const webhook = "placement-guard.example.com"

// plainWebhook removes Gatekeeper, applies our files of the webhook, and lets the API server ask the program directly.
func (c *cluster) plainWebhook(ctx context.Context) error {
	if err := c.removeGatekeeper(ctx); err != nil {
		return err
	}
	if err := c.registerWebhook(ctx); err != nil {
		return err
	}
	if err := c.warnsThroughWebhook(ctx); err != nil {
		return fmt.Errorf("as shipped: %w", err)
	}
	// From warnings to refusals, as the README says it.
	c.provider.process.stop()
	if err := c.runDeployment(ctx, true); err != nil {
		return err
	}
	if err := c.changeWebhook(ctx, "webhook.yaml", refuseUnjudged); err != nil {
		return err
	}
	return c.refusesThroughWebhook(ctx)
}

// onlyWebhook does the same where there never was a Gatekeeper.
func (c *cluster) onlyWebhook(ctx context.Context) error {
	authority, err := newAuthority("placement-guard-ca")
	if err != nil {
		return err
	}
	c.provider = &provider{authority: authority}
	return c.registerWebhook(ctx)
}

// registerWebhook runs our Deployment as it is, and has the API server ask it.
func (c *cluster) registerWebhook(ctx context.Context) error {
	for _, file := range []string{"deployment.yaml", "settings.yaml"} {
		if err := c.applyOurs(ctx, file); err != nil {
			return err
		}
	}
	if err := c.podsAreAllowed(ctx); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	c.provider.port = port
	if err := c.runDeployment(ctx, false); err != nil {
		return err
	}
	if err := c.exposeHere(ctx); err != nil {
		return err
	}
	if err := c.applyOurs(ctx, "webhook.yaml"); err != nil {
		return err
	}
	return c.injectCA(ctx, "webhook.yaml")
}

func (c *cluster) removeGatekeeper(ctx context.Context) error {
	if err := c.api.delete(ctx, object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gatekeeper-validating-webhook-configuration}
`)); err != nil {
		return err
	}
	for _, each := range c.processes {
		if each.name == "gatekeeper" || each == c.provider.process {
			each.stop()
		}
	}
	return nil
}

// applyOurs applies a file of `policies/webhook` as it is.
func (c *cluster) applyOurs(ctx context.Context, file string) error {
	found, err := objects(c.ours("webhook/"+file), nil)
	if err != nil {
		return err
	}
	for _, each := range found {
		if err := c.api.apply(ctx, each); err != nil {
			return fmt.Errorf("%s: %s `%s`: %w", file, each.GetKind(), each.GetName(), err)
		}
	}
	return nil
}

// stored is an object of our namespace as the API server has it.
func (c *cluster) stored(ctx context.Context, version, kind, name string) (*unstructured.Unstructured, error) {
	return c.api.get(ctx, object(fmt.Sprintf(
		"{apiVersion: %s, kind: %s, metadata: {namespace: placement-guard, name: %s}}", version, kind, name)))
}

// runDeployment does what kubelet and cert-manager would do: it starts the container with the arguments of the Deployment,
// the settings of the ConfigMap, and a certificate for the names in certificates.yaml.
func (c *cluster) runDeployment(ctx context.Context, deny bool) error {
	deployment, err := c.stored(ctx, "apps/v1", "Deployment", "placement-guard")
	if err != nil {
		return err
	}
	settings, err := c.stored(ctx, "v1", "ConfigMap", "placement-guard-settings")
	if err != nil {
		return err
	}
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		return err
	}
	text, _, err := unstructured.NestedString(settings.Object, "data", "settings.yaml")
	if err != nil {
		return err
	}
	if deny {
		text = strings.ReplaceAll(text, "enforcement: warn", "enforcement: deny")
	}
	if err := os.MkdirAll(c.file("webhook-settings"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(c.file("webhook-settings/settings.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	names, err := c.certificateNames()
	if err != nil {
		return err
	}
	if _, err := c.provider.authority.issue(c.file("webhook-certificates"), names...); err != nil {
		return err
	}
	if c.provider.operations, err = freePort(); err != nil {
		return err
	}
	c.provider.arguments = nil
	arguments, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	if err != nil {
		return err
	}
	for _, argument := range arguments {
		name, value, _ := strings.Cut(argument, "=")
		switch name {
		case "--module":
			value = filepath.Join(c.repository, "target/placement-guard.wasm")
		case "--listen":
			value = fmt.Sprintf("127.0.0.1:%d", c.provider.port)
		case "--operations":
			value = fmt.Sprintf("127.0.0.1:%d", c.provider.operations)
		case "--settings":
			value = c.file("webhook-settings/" + strings.TrimPrefix(value, "/settings/"))
		case "--tls-cert", "--tls-key":
			value = c.file("webhook-certificates/" + strings.TrimPrefix(value, "/certificates/"))
		}
		if value != "" {
			name += "=" + value
		}
		c.provider.arguments = append(c.provider.arguments, name)
	}
	return c.runProvider(ctx)
}

// podsAreAllowed wants the API server to take a pod of our Deployment into our namespace, which enforces a security standard.
func (c *cluster) podsAreAllowed(ctx context.Context) error {
	deployment, err := c.stored(ctx, "apps/v1", "Deployment", "placement-guard")
	if err != nil {
		return err
	}
	return c.podIsAllowed(ctx, deployment, "placement-guard")
}

// podIsAllowed wants the API server to take a pod of a Deployment into a namespace, without storing it.
func (c *cluster) podIsAllowed(ctx context.Context, deployment *unstructured.Unstructured, namespace string) error {
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	if err != nil {
		return err
	}
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetNamespace(namespace)
	pod.SetName("allowed")
	return c.api.create(ctx, pod, true)
}

// certificateNames are those for which cert-manager would issue the serving certificate.
func (c *cluster) certificateNames() ([]string, error) {
	found, err := objects(c.ours("webhook/certificates.yaml"), nil)
	if err != nil {
		return nil, err
	}
	for _, each := range found {
		secret, _, _ := unstructured.NestedString(each.Object, "spec", "secretName")
		if secret == "placement-guard-tls" {
			names, _, err := unstructured.NestedStringSlice(each.Object, "spec", "dnsNames")
			return names, err
		}
	}
	return nil, errors.New("certificates.yaml has no certificate `placement-guard-tls`")
}

// exposeHere lets the name of our Service lead to the running program: there is no pod here, and so no pod address. The API
// server still requires a certificate for the name of the Service.
func (c *cluster) exposeHere(ctx context.Context) error {
	service, err := c.stored(ctx, "v1", "Service", "placement-guard")
	if err != nil {
		return err
	}
	if err := c.api.delete(ctx, service); err != nil {
		return err
	}
	return c.api.apply(ctx, object(fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: placement-guard, namespace: placement-guard}
spec: {type: ExternalName, externalName: localhost, ports: [{port: %d}]}
`, c.provider.port)))
}

// injectCA does what cert-manager's CA injector does. The port is the one that is free here.
func (c *cluster) injectCA(ctx context.Context, file string) error {
	return c.changeWebhook(ctx, file, func(each map[string]any) {
		client := each["clientConfig"].(map[string]any)
		client["caBundle"] = base64.StdEncoding.EncodeToString(c.provider.authority.pem)
		client["service"].(map[string]any)["port"] = int64(c.provider.port)
	})
}

func refuseUnjudged(each map[string]any) { each["failurePolicy"] = "Fail" }

// changeWebhook changes each webhook of the configuration in a file of ours, as it is stored.
func (c *cluster) changeWebhook(ctx context.Context, file string, change func(each map[string]any)) error {
	found, err := objects(c.ours("webhook/"+file), nil)
	if err != nil {
		return err
	}
	stored, err := c.api.get(ctx, found[0])
	if err != nil {
		return err
	}
	webhooks, _, err := unstructured.NestedSlice(stored.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, each := range webhooks {
		change(each.(map[string]any))
	}
	if err := unstructured.SetNestedSlice(found[0].Object, webhooks, "webhooks"); err != nil {
		return err
	}
	return c.api.apply(ctx, found[0])
}

func (c *cluster) warnsThroughWebhook(ctx context.Context) error {
	wanted := "node affinity narrowed: a node with `topology.kubernetes.io/"
	return eventually(ctx, "a warning of the webhook", c.provider.process, func() error {
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

func (c *cluster) refusesThroughWebhook(ctx context.Context) error {
	says := func(err error, says string) error { return refused(err, webhook, says) }
	if err := eventually(ctx, "the webhook is in force", c.provider.process, func() error {
		err := c.api.patch(ctx, zonal("shipped", ""), edited(zone, "us-east1-b"), true)
		return says(err, "node affinity narrowed: a node with `topology.kubernetes.io/")
	}); err != nil {
		return err
	}
	if err := c.api.create(ctx, zonal("webhook", "us-east1-b"), false); err != nil {
		return err
	}
	// The settings declare the zones, so the announcement's edit is accepted, and an edit beyond them is not.
	if err := c.api.patch(ctx, zonal("webhook", ""), edited(region, "us-east1"), false); err != nil {
		return err
	}
	err := c.api.patch(ctx, zonal("webhook", ""), edited(region, "us-west1"), false)
	if err := says(err, "node affinity shifted: a node"); err != nil {
		return err
	}
	err = c.api.create(ctx, pod("webhook", otherToleration), false)
	if err := says(err, "toleration not allowed: tolerates `failure-probability="); err != nil {
		return err
	}
	if err := c.api.create(ctx, pod("webhook", allowedToleration), false); err != nil {
		return err
	}
	if err := says(c.api.create(ctx, object(driver), true), "token in volume context: driver `example.com`"); err != nil {
		return err
	}
	c.provider.process.kill()
	return c.refusesUnjudged(ctx, "unjudged")
}

// settingsOfWebhook are those in our ConfigMap, as rules that refuse.
func (c *cluster) settingsOfWebhook() ([]byte, error) {
	found, err := objects(c.ours("webhook/settings.yaml"), nil)
	if err != nil {
		return nil, err
	}
	text, _, err := unstructured.NestedString(found[0].Object, "data", "settings.yaml")
	return bytes.ReplaceAll([]byte(text), []byte("enforcement: warn"), []byte("enforcement: deny")), err
}
