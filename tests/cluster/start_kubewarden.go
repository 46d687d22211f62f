package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// built is what kustomize makes of a folder.
func (c *cluster) built(ctx context.Context, folder string) (named, error) {
	printed, err := c.shell(ctx, "kubectl kustomize "+folder)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.file("built.yaml"), []byte(printed), 0o600); err != nil {
		return nil, err
	}
	found, err := objects(c.file("built.yaml"), nil)
	if err != nil {
		return nil, err
	}
	return byName(found)
}

// overlaysAreThePolicies wants each overlay to be the files with another mode and failure policy, and nothing else.
func (c *cluster) overlaysAreThePolicies(ctx context.Context) error {
	files, err := filepath.Glob(c.ours("kubewarden/*.yaml"))
	if err != nil {
		return err
	}
	for mode, failurePolicy := range map[string]string{"monitor": "Ignore", "protect": "Fail"} {
		var plain []*unstructured.Unstructured
		for _, file := range files {
			if name := filepath.Base(file); has([]string{"all-rules.yaml", "kustomization.yaml", "volume-binding.yaml"}, name) {
				continue
			}
			found, err := objects(file, nil)
			if err != nil {
				return err
			}
			plain = append(plain, found...)
		}
		policies := 0
		for _, each := range plain {
			if each.GetKind() == "ClusterAdmissionPolicy" {
				spec := each.Object["spec"].(map[string]any)
				spec["mode"], spec["failurePolicy"] = mode, failurePolicy
				policies++
			}
		}
		expected, err := byName(plain)
		if err != nil {
			return err
		}
		actual, err := c.built(ctx, "policies/kubewarden-overlays/"+mode)
		if err != nil {
			return err
		}
		for _, found := range []named{expected, actual} {
			inOneLine(found)
		}
		if policies < 6 || !reflect.DeepEqual(expected, actual) {
			before, _ := yaml.Marshal(expected)
			after, _ := yaml.Marshal(actual)
			return fmt.Errorf("%s: %d policies; expected\n%s\nbuilt\n%s", mode, policies, before, after)
		}
	}
	return c.ownOverlay(ctx)
}

// inOneLine folds the conditions of policies: kustomize breaks their lines in other places.
func inOneLine(found named) {
	for _, policy := range found.kinds("ClusterAdmissionPolicy") {
		conditions, _, _ := unstructured.NestedSlice(policy.Object, "spec", "matchConditions")
		for _, condition := range conditions {
			members := condition.(map[string]any)
			members["expression"] = strings.Join(strings.Fields(members["expression"].(string)), " ")
		}
		_ = unstructured.SetNestedSlice(policy.Object, conditions, "spec", "matchConditions")
	}
}

// ownOverlay builds the example in policies/kubewarden/README.md, with the overlay of this repository below it.
func (c *cluster) ownOverlay(ctx context.Context) error {
	text, err := os.ReadFile(c.ours("kubewarden/README.md"))
	if err != nil {
		return err
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	const remote = "https://github.com/placement-guard/placement-guard//policies/kubewarden-overlays/monitor?ref=v0.1.0"
	folder := c.file("own-overlay")
	// kustomize compares paths with their links resolved.
	repository, err := filepath.EvalSymlinks(c.repository)
	if err != nil {
		return err
	}
	local, err := filepath.Rel(folder, filepath.Join(repository, "policies/kubewarden-overlays/monitor"))
	if err != nil {
		return err
	}
	if !strings.Contains(example, remote) {
		return fmt.Errorf("the example does not name %s: %s", remote, example)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(strings.Replace(example, remote, local, 1)), 0o600); err != nil {
		return err
	}
	actual, err := c.built(ctx, folder)
	if err != nil {
		return err
	}
	for _, policy := range actual.kinds("ClusterAdmissionPolicy") {
		module, _, _ := unstructured.NestedString(policy.Object, "spec", "module")
		if module != "registry://registry.example.com/you/placement-guard:v0.1.0" {
			return fmt.Errorf("%s has the module %s", policy.GetName(), module)
		}
	}
	settings, _, _ := unstructured.NestedMap(actual["ClusterAdmissionPolicy tolerations"].Object, "spec", "settings", "tolerations")
	if len(settings) != 1 || settings["denied"] == nil {
		return fmt.Errorf("the settings of tolerations are %v", settings)
	}
	return nil
}

// kubewarden does what its controller and its policy server do: it reports policies as active, and lets the API server ask
// about those in `protect`. The program judges with the settings of the policy.
type kubewarden struct {
	played
	settings string
}

const policyName = "volume-node-affinity"

// doorOfKubewarden walks through the first door of docs/start.md.
func (c *cluster) doorOfKubewarden(ctx context.Context) error {
	if err := c.definitions(ctx, filepath.Join(c.repository, "tests/cluster/kubewarden-crd.yaml")); err != nil {
		return err
	}
	before, err := c.inventory(ctx)
	if err != nil {
		return err
	}
	p, err := c.play("default")
	if err != nil {
		return err
	}
	k := &kubewarden{played: *p}
	stop := k.meanwhile(ctx, k.reports, k.asks, k.releasesVolumes)
	err = c.walk(ctx, "I run Kubewarden", nil)
	// What went wrong there may say why a command failed.
	if played := stop(); err != nil {
		return errors.Join(err, played)
	}
	k.stops()
	if err := c.api.delete(ctx, k.configuration("Ignore", nil)); err != nil {
		return err
	}
	if err := c.left(ctx, before); err != nil {
		return err
	}
	// Also the policies that refuse are those that the API server takes.
	_, err = c.shell(ctx, "kubectl apply --dry-run=server --validate=strict -k policies/kubewarden-overlays/protect")
	return err
}

func (k *kubewarden) policies(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	files, err := filepath.Glob(k.cluster.ours("kubewarden/*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		policy, err := k.clusterwide(ctx, "policies.kubewarden.io/v1", "ClusterAdmissionPolicy", strings.TrimSuffix(filepath.Base(file), ".yaml"))
		if err != nil {
			return nil, err
		}
		if policy != nil {
			found = append(found, policy)
		}
	}
	return found, nil
}

func (k *kubewarden) reports(ctx context.Context) error {
	policies, err := k.policies(ctx)
	if err != nil {
		return err
	}
	for _, policy := range policies {
		conditions, _, _ := unstructured.NestedSlice(policy.Object, "status", "conditions")
		if len(conditions) > 0 {
			continue
		}
		if err := k.cluster.api.patchStatus(ctx, policy, `{status: {policyStatus: active, conditions: [{type: PolicyActive,
status: "True", reason: PolicyActive, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`); err != nil {
			return err
		}
	}
	return nil
}

func (k *kubewarden) asks(ctx context.Context) error {
	policy, err := k.clusterwide(ctx, "policies.kubewarden.io/v1", "ClusterAdmissionPolicy", policyName)
	if err != nil || policy == nil {
		return err
	}
	spec := policy.Object["spec"].(map[string]any)
	text, err := yaml.Marshal(spec["settings"])
	if err != nil {
		return err
	}
	if spec["mode"] != "protect" || k.settings == string(text) {
		return nil
	}
	folder := k.cluster.file("kubewarden")
	if _, err := k.authority.issue(folder, "policy-server-default.kubewarden.svc"); err != nil {
		return err
	}
	settings := filepath.Join(folder, "settings.yaml")
	if err := os.WriteFile(settings, text, 0o600); err != nil {
		return err
	}
	k.stops()
	started, err := k.cluster.start("policy-server", k.cluster.program("placement-guard"), nil,
		"serve", "--module="+filepath.Join(k.cluster.repository, "target/placement-guard.wasm"),
		"--tls-cert="+filepath.Join(folder, "tls.crt"), "--tls-key="+filepath.Join(folder, "tls.key"), "--settings="+settings,
		fmt.Sprintf("--listen=127.0.0.1:%d", k.provider.port), fmt.Sprintf("--operations=127.0.0.1:%d", k.provider.operations),
	)
	if err != nil {
		return err
	}
	k.provider.process = started
	if err := eventually(ctx, "the policy server is ready", started, func() error {
		_, err := k.provider.operation(ctx, "readyz")
		return err
	}); err != nil {
		return err
	}
	if err := k.cluster.api.apply(ctx, k.configuration(fmt.Sprint(spec["failurePolicy"]), spec)); err != nil {
		return err
	}
	k.settings = string(text)
	return nil
}

// configuration is what Kubewarden's controller makes of a policy.
func (k *kubewarden) configuration(failurePolicy string, spec map[string]any) *unstructured.Unstructured {
	made := object(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: clusterwide-%s}
webhooks:
  - name: clusterwide-%[1]s.kubewarden.admission
    admissionReviewVersions: [v1]
    clientConfig: {url: "https://127.0.0.1:%d/v1/admit", caBundle: %s}
    failurePolicy: %s
    sideEffects: None
    timeoutSeconds: 10
`, policyName, k.provider.port, base64.StdEncoding.EncodeToString(k.authority.pem), failurePolicy))
	webhook := made.Object["webhooks"].([]any)[0].(map[string]any)
	for _, member := range []string{"rules", "matchConditions", "namespaceSelector"} {
		if spec[member] != nil {
			webhook[member] = spec[member]
		}
	}
	return made
}
