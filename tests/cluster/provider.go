package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// provider is `placement-guard serve`, and where it is found.
type provider struct {
	process    *process
	authority  *authority
	port       int
	operations int
	arguments  []string
}

const serving = "placement-guard.gatekeeper-system.svc"

func (c *cluster) startProvider(ctx context.Context) error {
	authority, err := newAuthority("placement-guard-ca")
	if err != nil {
		return err
	}
	if _, err := authority.issue(c.file("provider"), serving); err != nil {
		return err
	}
	settings, err := c.settingsOfWebhook()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file("settings.yaml"), settings, 0o600); err != nil {
		return err
	}
	c.provider = &provider{authority: authority}
	for _, port := range []*int{&c.provider.port, &c.provider.operations} {
		if *port, err = freePort(); err != nil {
			return err
		}
	}
	c.provider.arguments = []string{
		"serve", "--module=" + filepath.Join(c.repository, "target/placement-guard.wasm"),
		"--tls-cert=" + c.file("provider/tls.crt"), "--tls-key=" + c.file("provider/tls.key"),
		"--client-ca=" + c.file("gatekeeper/ca.crt"),
		fmt.Sprintf("--listen=127.0.0.1:%d", c.provider.port),
		fmt.Sprintf("--operations=127.0.0.1:%d", c.provider.operations),
		"--settings=" + c.file("settings.yaml"),
	}
	return c.runProvider(ctx)
}

// runProvider starts it, again with the same arguments once it has ended.
func (c *cluster) runProvider(ctx context.Context) error {
	started, err := c.start("provider", c.program("placement-guard"), nil, c.provider.arguments...)
	if err != nil {
		return err
	}
	c.provider.process = started
	return eventually(ctx, "the provider is ready", started, func() error {
		_, err := c.provider.operation(ctx, "readyz")
		return err
	})
}

func (p *provider) operation(ctx context.Context, name string) (string, error) {
	return answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/%s", p.operations, name))
}

// here puts address and CA of the running provider where our files have those of a cluster.
func (c *cluster) here(text []byte) []byte {
	ca := base64.StdEncoding.EncodeToString(c.provider.authority.pem)
	text = bytes.ReplaceAll(text, []byte("CA_BUNDLE"), []byte(ca))
	return bytes.ReplaceAll(text, []byte(serving+":8443"), []byte(fmt.Sprintf("127.0.0.1:%d", c.provider.port)))
}

func (c *cluster) applyFiles(ctx context.Context) error {
	for _, path := range []string{"deployment.yaml", "provider.yaml", "templates", "constraints"} {
		found, err := objects(c.ours("gatekeeper/"+path), c.here)
		if err != nil {
			return err
		}
		for _, each := range found {
			// A template takes a moment to become a kind of constraints.
			if err := eventually(ctx, path, nil, func() error { return c.api.apply(ctx, each) }); err != nil {
				return fmt.Errorf("%s `%s`: %w", each.GetKind(), each.GetName(), err)
			}
		}
	}
	return nil
}

func (c *cluster) wrongParameters(ctx context.Context) error {
	for _, wrong := range []struct{ file, change, says string }{
		{"volume-node-affinity", "{spec: {parameters: {alow: [widened]}}}", `unknown field "spec.parameters.alow"`},
		{"volume-node-affinity", "{spec: {parameters: {allow: [wider]}}}", "spec.parameters.allow[0]: Unsupported value"},
		{"tolerations", "{spec: {parameters: {denied: [{key: 'a b', operator: Exists}]}}}", "spec.parameters.denied[0].key"},
		{"csi-driver-tokens", "{spec: {parameters: {expirationSeconds: {min: 1}}}}", "spec.parameters.expirationSeconds.min"},
	} {
		constraint, err := c.constraint(wrong.file)
		if err != nil {
			return err
		}
		err = c.api.patch(ctx, constraint, wrong.change, true)
		if err == nil || !strings.Contains(err.Error(), wrong.says) {
			return fmt.Errorf("%s: expected %q, got %v", wrong.change, wrong.says, err)
		}
	}
	return nil
}

func (c *cluster) constraint(file string) (*unstructured.Unstructured, error) {
	found, err := objects(c.ours("gatekeeper/constraints/"+file+".yaml"), nil)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
