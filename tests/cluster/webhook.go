package main

import (
	"context"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const webhook = "placement-guard.example.com"

// plainWebhook takes Gatekeeper away and lets the API server ask the provider itself.
func (c *cluster) plainWebhook(ctx context.Context) error {
	if err := c.api.delete(ctx, object(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gatekeeper-validating-webhook-configuration}
`)); err != nil {
		return err
	}
	for _, each := range c.processes {
		if each.name == "gatekeeper" {
			each.stop()
		}
	}
	configuration, err := c.webhookConfiguration()
	if err != nil {
		return err
	}
	if err := c.api.apply(ctx, configuration); err != nil {
		return err
	}
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
	// The settings of the webhook declare the zones, so the announcement's edit is accepted, and one beyond them is not.
	if err := c.api.patch(ctx, zonal("webhook", ""), edited(region, "us-east1"), false); err != nil {
		return err
	}
	err = c.api.patch(ctx, zonal("webhook", ""), edited(region, "us-west1"), false)
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
	if err := c.api.create(ctx, zonal("nobody", "us-east1-b"), false); err == nil {
		return fmt.Errorf("a volume was accepted while nobody could judge it")
	}
	return nil
}

// webhookConfiguration is ours, with the address of the running provider, and refusing where nobody answers.
func (c *cluster) webhookConfiguration() (*unstructured.Unstructured, error) {
	found, err := objects(c.ours("webhook/webhook.yaml"), c.here)
	if err != nil {
		return nil, err
	}
	webhooks, _, err := unstructured.NestedSlice(found[0].Object, "webhooks")
	if err != nil {
		return nil, err
	}
	for _, each := range webhooks {
		each := each.(map[string]any)
		client := each["clientConfig"].(map[string]any)
		delete(client, "service")
		client["url"] = fmt.Sprintf("https://127.0.0.1:%d/v1/admit", c.provider.port)
		client["caBundle"] = base64.StdEncoding.EncodeToString(c.provider.authority.pem)
		each["failurePolicy"] = "Fail"
	}
	return found[0], unstructured.SetNestedSlice(found[0].Object, webhooks, "webhooks")
}
