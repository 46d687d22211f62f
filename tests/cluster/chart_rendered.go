package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// named has objects by kind and name.
type named map[string]*unstructured.Unstructured

func byName(found []*unstructured.Unstructured) (named, error) {
	objects := named{}
	for _, each := range found {
		key := each.GetKind() + " " + each.GetName()
		if objects[key] != nil {
			return nil, fmt.Errorf("%s appears twice", key)
		}
		objects[key] = each
	}
	return objects, nil
}

func (n named) kinds(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, each := range n {
		if each.GetKind() == kind {
			found = append(found, each)
		}
	}
	return found
}

// authorityFile is a CA for renderings that need one.
func (c *cluster) authorityFile() (string, error) {
	path := c.file("some-ca.crt")
	authority, err := newAuthority("some-ca")
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, authority.pem, 0o600)
}

// rendered is what Helm makes of the chart with these values, which are YAML.
func (c *cluster) rendered(ctx context.Context, name, namespace, values string, options ...string) (named, error) {
	file := c.file("values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		return nil, err
	}
	line := fmt.Sprintf("helm template %s %s --namespace %s --values %s %s", name, chart, namespace, file, strings.Join(options, " "))
	printed, err := c.shell(ctx, line)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(c.file("rendered.yaml"), []byte(printed), 0o600); err != nil {
		return nil, err
	}
	found, err := objects(c.file("rendered.yaml"), nil)
	if err != nil {
		return nil, err
	}
	return byName(found)
}

// kindsExist is for renderings of an upgrade in a cluster where Gatekeeper has made the kinds of the constraints.
const kindsExist = " --is-upgrade --api-versions constraints.gatekeeper.sh/v1beta1/PlacementGuardVolumeNodeAffinity"

const asProvider = `
webhook: {enabled: false}
gatekeeper:
  enabled: true
  applyConstraints: always
`

// chartSaysTheSame compares the chart with the manifests, which are the source of truth.
func (c *cluster) chartSaysTheSame(ctx context.Context) error {
	for _, arguments := range []string{"", "--set webhook.enabled=false --set gatekeeper.enabled=true"} {
		if _, err := c.shell(ctx, "helm lint --strict --quiet "+chart+" "+arguments); err != nil {
			return err
		}
	}
	ca, err := c.authorityFile()
	if err != nil {
		return err
	}
	for _, face := range []struct {
		folder, values, option string
		files                  []string
	}{
		{"webhook", "{}", "", []string{"deployment.yaml", "certificates.yaml", "settings.yaml", "webhook.yaml"}},
		{
			"gatekeeper", asProvider, "--set-file certificates.ca=" + ca,
			[]string{"deployment.yaml", "certificates.yaml", "provider.yaml", "templates", "constraints"},
		},
	} {
		var plain []*unstructured.Unstructured
		for _, file := range face.files {
			found, err := objects(c.ours(face.folder+"/"+file), nil)
			if err != nil {
				return err
			}
			plain = append(plain, found...)
		}
		expected, err := byName(plain)
		if err != nil {
			return err
		}
		namespace := expected["Deployment placement-guard"].GetNamespace()
		actual, err := c.rendered(ctx, release, namespace, face.values, face.option)
		if err != nil {
			return err
		}
		// Helm makes the namespace.
		delete(expected, "Namespace placement-guard")
		if face.folder == "gatekeeper" {
			// It always reads the cluster, so the chart leaves it out unless the values switch it on.
			delete(expected, "PlacementGuardVolumeBinding volume-binding")
			// The chart always has an account of its own; the manifests only with cluster-reader.yaml.
			delete(actual, "ServiceAccount placement-guard")
			unstructured.RemoveNestedField(actual["Deployment placement-guard"].Object, "spec", "template", "spec", "serviceAccountName")
			actual["Provider placement-guard"].Object["spec"].(map[string]any)["caBundle"] = "CA_BUNDLE"
		}
		if err := same(expected, actual); err != nil {
			return fmt.Errorf("%s: %w", face.folder, err)
		}
	}
	return c.grantsAsTheManifest(ctx)
}

const readsEverything = `webhook: {settings: {volumeNodeAffinity: {whileInUse: deny}, localVolumes: {overlap: warn},
csiDriverTokens: {rollout: {nodePlugins: []}}, volumeBinding: {unreachableTogether: warn}}}
`

// grantsAsTheManifest wants each rule of the chart's role in cluster-reader.yaml, which has those of all settings.
func (c *cluster) grantsAsTheManifest(ctx context.Context) error {
	found, err := objects(c.ours("webhook/cluster-reader.yaml"), nil)
	if err != nil {
		return err
	}
	plain, err := byName(found)
	if err != nil {
		return err
	}
	actual, err := c.rendered(ctx, release, "placement-guard", readsEverything)
	if err != nil {
		return err
	}
	const role, binding = "ClusterRole placement-guard-cluster-reader", "ClusterRoleBinding placement-guard-cluster-reader"
	granted, _, _ := unstructured.NestedSlice(plain[role].Object, "rules")
	rules, _, _ := unstructured.NestedSlice(actual[role].Object, "rules")
	if len(rules) != len(granted) {
		return fmt.Errorf("the role has the rules %v", rules)
	}
	for _, rule := range rules {
		if !slices.ContainsFunc(granted, func(each any) bool { return reflect.DeepEqual(each, rule) }) {
			return fmt.Errorf("cluster-reader.yaml does not grant %v", rule)
		}
	}
	return same(named{binding: plain[binding]}, named{binding: actual[binding]})
}

func same(expected, actual named) error {
	var differing []error
	for key := range actual {
		if expected[key] == nil {
			differing = append(differing, fmt.Errorf("only the chart has %s", key))
		}
	}
	for key, plain := range expected {
		if actual[key] == nil {
			differing = append(differing, fmt.Errorf("the chart lacks %s", key))
			continue
		}
		comparable(plain)
		comparable(actual[key])
		if !reflect.DeepEqual(plain.Object, actual[key].Object) {
			before, _ := yaml.Marshal(plain.Object)
			after, _ := yaml.Marshal(actual[key].Object)
			differing = append(differing, fmt.Errorf("%s differs:\nmanifest:\n%s\nchart:\n%s", key, before, after))
		}
	}
	return errors.Join(differing...)
}

// comparable removes what may differ: labels, and the names of ports and containers.
func comparable(object *unstructured.Unstructured) {
	object.SetLabels(nil)
	if metadata, isThere := object.Object["metadata"].(map[string]any); isThere {
		delete(metadata, "labels")
	}
	plainNames(object.Object)
	if object.GetKind() == "Deployment" {
		unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations")
	}
}

func plainNames(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "app.kubernetes.io/instance")
		if value["imagePullPolicy"] == "IfNotPresent" {
			delete(value, "imagePullPolicy")
		}
		for _, key := range []string{"name", "port", "targetPort"} {
			switch value[key] {
			case "admit", "query":
				value[key] = "https"
			case "provider":
				value[key] = "placement-guard"
			}
		}
		for _, member := range value {
			plainNames(member)
		}
	case []any:
		for _, item := range value {
			plainNames(item)
		}
	}
}

// rendering is a set of values, and what must come of them.
type rendering struct {
	what      string
	name      string
	namespace string
	values    string
	options   string
	holds     func(named) error
}

func renderings(ca string, pem []byte) []rendering {
	withCA := "--set-file certificates.ca=" + ca
	return []rendering{
		{
			what: "both faces", namespace: "gatekeeper-system", options: withCA,
			values: "gatekeeper: {enabled: true}",
			holds: func(n named) error {
				return hasArguments(n, "--client-ca=/gatekeeper/ca.crt", "--settings=/settings/settings.yaml")
			},
		},
		{
			what: "a certificate of one's own", options: withCA, values: "certificates: {certManager: false, secret: mine}",
			holds: func(n named) error {
				if len(n.kinds("Certificate"))+len(n.kinds("Issuer")) != 0 {
					return errors.New("it has objects of cert-manager")
				}
				webhooks, _, _ := unstructured.NestedSlice(n.kinds("ValidatingWebhookConfiguration")[0].Object, "webhooks")
				bundle, _, _ := unstructured.NestedString(webhooks[0].(map[string]any), "clientConfig", "caBundle")
				if bundle != base64.StdEncoding.EncodeToString(pem) {
					return fmt.Errorf("the CA is %q", bundle)
				}
				return nil
			},
		},
		{
			what: "settings that read nothing", values: `webhook: {settings: {volumeNodeAffinity: {whileInUse: ignore, judgeBy: anyNode,
topology: {fromLiveNodes: false}}, tolerations: {denied: []}}}`,
			holds: func(n named) error { return grants(n, false) },
		},
		{
			what: "settings that read everything", values: readsEverything + "networkPolicy: {apiServerPort: 6443}",
			holds: func(n named) error {
				return grants(n, false, "csinodes", "daemonsets", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods",
					"storageclasses", "volumeattachments")
			},
		},
		{
			what: "parameters that read the cluster", namespace: "gatekeeper-system", options: withCA,
			values: asProvider + "  constraints: {nodeTaints: {parameters: {evictions: deny}}, tolerations: {enabled: false}}\nreadsCluster: [Node]",
			holds: func(n named) error {
				if len(n.kinds("PlacementGuardTolerations")) != 0 || len(n.kinds("PlacementGuardNodeTaints")) != 1 {
					return errors.New("the constraints are not those that are enabled")
				}
				return errors.Join(grants(n, true, "nodes", "pods"), hasArguments(n, "--reads-cluster=Node,Pod"))
			},
		},
		{
			what: "an upgrade that adds Gatekeeper", namespace: "gatekeeper-system", options: withCA + " --is-upgrade",
			values: "gatekeeper: {enabled: true}",
			holds:  func(n named) error { return hasConstraints(n, 0) },
		},
		{
			what: "an installation where the kinds exist", namespace: "gatekeeper-system",
			options: withCA + strings.Replace(kindsExist, " --is-upgrade", "", 1), values: "gatekeeper: {enabled: true}",
			holds: func(n named) error { return hasConstraints(n, 0) },
		},
		{
			what: "the upgrade after it", namespace: "gatekeeper-system", options: withCA + kindsExist,
			values: "gatekeeper: {enabled: true, constraints: {volumeBinding: {enabled: true}}}",
			holds:  func(n named) error { return hasConstraints(n, len(n.kinds("ConstraintTemplate"))) },
		},
		{
			what: "an upgrade without constraints", namespace: "gatekeeper-system", options: withCA + kindsExist,
			values: "gatekeeper: {enabled: true, applyConstraints: never}",
			holds:  func(n named) error { return hasConstraints(n, 0) },
		},
		{
			what: "a registry on another port", values: "networkPolicy: {registryPort: 5000}",
			holds: func(n named) error {
				egress, _, _ := unstructured.NestedSlice(n["NetworkPolicy placement-guard"].Object, "spec", "egress")
				return contains(fmt.Sprint(egress), "port:443", "port:5000")
			},
		},
		{
			what: "large numbers, another name", name: "guard", values: `webhook: {settings: {tolerations: {allowed: [
{key: a, operator: Exists, maxTolerationSeconds: 31536000}, {key: b, operator: Lt, value: "20", maxTolerationSeconds: 4294967296}]}}}
podDisruptionBudget: {enabled: false}
networkPolicy: {controlPlane: [10.0.0.0/28], prometheusNamespace: ""}`,
			holds: func(n named) error {
				text, _, _ := unstructured.NestedString(n["ConfigMap guard-placement-guard-settings"].Object, "data", "settings.yaml")
				if len(n.kinds("PodDisruptionBudget")) != 0 {
					return errors.New("it has a PodDisruptionBudget")
				}
				return contains(text, "maxTolerationSeconds: 31536000\n", "maxTolerationSeconds: 4294967296\n", `value: "20"`)
			},
		},
		{
			what: "a private registry", values: fmt.Sprintf(`module: {reference: "registry://registry.example.com/it@sha256:%064d", registrySecret: login}
image: {digest: "sha256:%064d", pullSecrets: [login]}
fullnameOverride: judge
extraArguments: [--require-digest]`, 1, 2),
			holds: func(n named) error {
				image, _, _ := unstructured.NestedSlice(n["Deployment judge"].Object, "spec", "template", "spec", "containers")
				wanted := fmt.Sprintf("ghcr.io/placement-guard/provider@sha256:%064d", 2)
				if found := image[0].(map[string]any)["image"]; found != wanted {
					return fmt.Errorf("the image is %v", found)
				}
				return hasArguments(n, "--require-digest", fmt.Sprintf("--module=registry://registry.example.com/it@sha256:%064d", 1))
			},
		},
	}
}

// chartRenders tries values, right and wrong.
func (c *cluster) chartRenders(ctx context.Context) error {
	ca, err := c.authorityFile()
	if err != nil {
		return err
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	for _, each := range renderings(ca, pem) {
		found, err := c.renderedAs(ctx, each)
		if err == nil {
			err = errors.Join(each.holds(found), fits(found))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", each.what, err)
		}
	}
	for _, wrong := range []struct{ values, says string }{
		{"webhook: {enabled: false}", "nothing to install: set `webhook.enabled`"},
		{"certificates: {certManager: false}", "`certificates.secret` must name the secret"},
		{"certificates: {certManager: false, secret: mine}", "`certificates.ca` must be the CA"},
		{"certificates: {secret: mine}", "also set `certificates.certManager=false`"},
		{asProvider, "the secret `placement-guard-ca` is not there yet"},
		{"webhook: {settings: {toleration: {}}}", "additional properties 'toleration' not allowed"},
		{"webhook: {settings: {volumeNodeAffinity: {allow: [wider]}}}", "at '/webhook/settings/volumeNodeAffinity"},
		{"webhook: {failurePolicy: fail}", "at '/webhook/failurePolicy"},
		{"replica: 2", "additional properties 'replica' not allowed"},
		{"image:\n  # Empty.\n", "missing property 'image'"},
		{"evaluations: null", "missing property 'evaluations'"},
		{"webhook: {failurePolicy: null}", "missing property 'failurePolicy'"},
		{"networkPolicy: {controlPlane: [10.0.0.1]}", "at '/networkPolicy/controlPlane/0'"},
		{"fullnameOverride: Guard", "at '/fullnameOverride'"},
	} {
		_, err := c.rendered(ctx, release, "placement-guard", wrong.values)
		if err == nil {
			return fmt.Errorf("%s: it is rendered", wrong.values)
		}
		if err := contains(err.Error(), wrong.says); err != nil {
			return fmt.Errorf("%s: %w", wrong.values, err)
		}
	}
	return nil
}

func (c *cluster) renderedAs(ctx context.Context, each rendering) (named, error) {
	if each.name == "" {
		each.name = release
	}
	if each.namespace == "" {
		each.namespace = "placement-guard"
	}
	return c.rendered(ctx, each.name, each.namespace, each.values, each.options)
}

// fits wants the parts of a release to name each other: its Service, its certificate, and who calls it.
func fits(n named) error {
	deployment, service := n.kinds("Deployment")[0], n.kinds("Service")[0]
	host := fmt.Sprintf("%s.%s.svc", service.GetName(), service.GetNamespace())
	labels, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "template", "metadata", "labels")
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	for key, value := range selector {
		if labels[key] != value {
			return fmt.Errorf("the Service selects %s=%s, the pods have %v", key, value, labels)
		}
	}
	for _, webhook := range n.kinds("ValidatingWebhookConfiguration") {
		webhooks, _, _ := unstructured.NestedSlice(webhook.Object, "webhooks")
		called, _, _ := unstructured.NestedMap(webhooks[0].(map[string]any), "clientConfig", "service")
		if fmt.Sprintf("%s.%s.svc", called["name"], called["namespace"]) != host {
			return fmt.Errorf("the webhook calls %v, not %s", called, host)
		}
	}
	for _, provider := range n.kinds("Provider") {
		url, _, _ := unstructured.NestedString(provider.Object, "spec", "url")
		if url != "https://"+host+":8443/v1/query" {
			return fmt.Errorf("Gatekeeper calls %s, not %s", url, host)
		}
	}
	for _, certificate := range n.kinds("Certificate") {
		names, isServing, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
		if isServing && !reflect.DeepEqual(names, []string{host}) {
			return fmt.Errorf("the certificate has the names %v, not %s", names, host)
		}
	}
	return nil
}

// hasConstraints wants so many constraints, and a template for each.
func hasConstraints(n named, wanted int) error {
	found := 0
	for _, each := range n {
		if strings.HasPrefix(each.GetAPIVersion(), "constraints.gatekeeper.sh/") {
			found++
		}
	}
	if found != wanted || len(n.kinds("ConstraintTemplate")) == 0 {
		return fmt.Errorf("it has %d constraints, not %d, and %d templates", found, wanted, len(n.kinds("ConstraintTemplate")))
	}
	return nil
}

func container(n named) map[string]any {
	containers, _, _ := unstructured.NestedSlice(n.kinds("Deployment")[0].Object, "spec", "template", "spec", "containers")
	return containers[0].(map[string]any)
}

func hasArguments(n named, wanted ...string) error {
	arguments, _, _ := unstructured.NestedStringSlice(container(n), "args")
	for _, argument := range append(wanted, "serve") {
		if !slices.Contains(arguments, argument) {
			return fmt.Errorf("%s is not in %v", argument, arguments)
		}
	}
	return nil
}

// grants wants exactly these resources readable, and a token in the pod if there are any. Only constraints need an argument.
func grants(n named, told bool, resources ...string) error {
	var granted []string
	for _, role := range n.kinds("ClusterRole") {
		rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
		for _, rule := range rules {
			names, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "resources")
			verbs, _, _ := unstructured.NestedStringSlice(rule.(map[string]any), "verbs")
			if !reflect.DeepEqual(verbs, []string{"get", "list", "watch"}) {
				return fmt.Errorf("it may %v", verbs)
			}
			granted = append(granted, names...)
		}
	}
	sort.Strings(granted)
	if !reflect.DeepEqual(granted, resources) && len(granted)+len(resources) != 0 {
		return fmt.Errorf("it may read %v, and needs %v", granted, resources)
	}
	if len(n.kinds("ClusterRoleBinding")) != min(1, len(resources)) {
		return errors.New("the binding is not as the role")
	}
	mounted, _, _ := unstructured.NestedBool(n.kinds("Deployment")[0].Object, "spec", "template", "spec", "automountServiceAccountToken")
	if mounted != (len(resources) > 0) {
		return fmt.Errorf("the token is mounted: %t", mounted)
	}
	arguments, _, _ := unstructured.NestedStringSlice(container(n), "args")
	if named := strings.Contains(strings.Join(arguments, " "), "--reads-cluster="); named != told {
		return fmt.Errorf("the kinds are named in the arguments: %t", named)
	}
	return nil
}
