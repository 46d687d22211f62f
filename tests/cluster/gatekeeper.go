package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// Gatekeeper outside of a cluster: as real as inside, with a certificate that we made.
func (c *cluster) startGatekeeper(ctx context.Context) error {
	authority, err := newAuthority("gatekeeper-ca")
	if err != nil {
		return err
	}
	c.authority = authority
	if _, err := authority.issue(c.file("gatekeeper"), gatekeeperName); err != nil {
		return err
	}
	namespace := object(`{apiVersion: v1, kind: Namespace, metadata: {name: gatekeeper-system}}`)
	if err := c.api.apply(ctx, namespace); err != nil {
		return err
	}
	definitions, err := objects(c.program("gatekeeper-crds"), nil)
	if err != nil {
		return err
	}
	for _, definition := range definitions {
		if err := c.api.apply(ctx, definition); err != nil {
			return err
		}
	}
	ports := make([]int, 3)
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return err
		}
	}
	if err := os.WriteFile(c.file("kubeconfig"), []byte(c.access(token)), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(c.file("audit"), 0o700); err != nil {
		return err
	}
	started, err := c.start("gatekeeper", c.program("gatekeeper"),
		[]string{"KUBECONFIG=" + c.file("kubeconfig"), "POD_NAMESPACE=gatekeeper-system", "POD_NAME=gatekeeper"},
		"--debug-use-fake-pod", "--disable-cert-rotation", "--cert-dir="+c.file("gatekeeper"), "--host=127.0.0.1",
		fmt.Sprintf("--port=%d", ports[0]), fmt.Sprintf("--health-addr=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--prometheus-port=%d", ports[2]), "--operation=webhook", "--operation=status",
		"--operation=generate", "--operation=audit", "--audit-interval=2",
		"--api-cache-dir="+c.file("audit"), "--logtostderr",
	)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(c.ours("gatekeeper/gatekeeper-values.yaml"))
	if err != nil {
		return err
	}
	var values struct {
		TimeoutSeconds int    `json:"validatingWebhookTimeoutSeconds"`
		FailurePolicy  string `json:"validatingWebhookFailurePolicy"`
	}
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		return err
	}
	health := fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1])
	if err := eventually(ctx, "Gatekeeper is ready", started, func() error {
		_, err := answers(ctx, health)
		return err
	}); err != nil {
		return err
	}
	// As the chart does it with our gatekeeper-values.yaml, except for the address.
	return c.api.apply(ctx, object(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: gatekeeper-validating-webhook-configuration}
webhooks:
  - name: validation.gatekeeper.sh
    admissionReviewVersions: [v1, v1beta1]
    clientConfig: {url: "https://127.0.0.1:%d/v1/admit", caBundle: %s}
    failurePolicy: %s
    matchPolicy: Exact
    sideEffects: None
    timeoutSeconds: %d
    namespaceSelector:
      matchExpressions:
        - {key: admission.gatekeeper.sh/ignore, operator: DoesNotExist}
        - {key: kubernetes.io/metadata.name, operator: NotIn, values: [gatekeeper-system]}
    rules:
      - {apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*", pods/ephemeralcontainers]}
`, ports[0], base64.StdEncoding.EncodeToString(authority.pem), values.FailurePolicy, values.TimeoutSeconds)))
}
