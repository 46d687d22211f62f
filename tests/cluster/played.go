package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// played does for a release what runs in a cluster and not here: cert-manager issues certificates, the kubelet starts the
// program with its volumes and arguments, the Deployment reports that, and a Service leads to the program.
type played struct {
	cluster   *cluster
	namespace string
	authority *authority
	// The program as the Deployment describes it, and a digest of that description.
	provider provider
	runs     string
}

func (c *cluster) play(namespace string) (*played, error) {
	authority, err := newAuthority(release + "-ca")
	if err != nil {
		return nil, err
	}
	p := &played{cluster: c, namespace: namespace, authority: authority, provider: provider{authority: authority}}
	for _, port := range []*int{&p.provider.port, &p.provider.operations} {
		if *port, err = freePort(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// meanwhile plays while commands run that wait for it. The function that stops it returns what went wrong last, which may be
// that something has just been removed.
func (p *played) meanwhile(ctx context.Context, turns ...func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	go func() {
		var last error
		for ctx.Err() == nil {
			var failed error
			for _, turn := range turns {
				if failed = turn(ctx); failed != nil {
					break
				}
			}
			if ctx.Err() == nil {
				last = failed
			}
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
		ended <- last
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

// get returns an object of the release's namespace, or nothing where it is not there.
func (p *played) get(ctx context.Context, version, kind, name string) (*unstructured.Unstructured, error) {
	return p.stored(ctx, object(fmt.Sprintf(
		"{apiVersion: %s, kind: %s, metadata: {namespace: %s, name: %s}}", version, kind, p.namespace, name)))
}

// clusterwide does so for an object without a namespace.
func (p *played) clusterwide(ctx context.Context, version, kind, name string) (*unstructured.Unstructured, error) {
	return p.stored(ctx, object(fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s}}", version, kind, name)))
}

func (p *played) stored(ctx context.Context, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found, err := p.cluster.api.get(ctx, wanted)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// issues makes the secrets of the release's certificates, as cert-manager would.
func (p *played) issues(ctx context.Context) error {
	for _, name := range []string{release + "-ca", release} {
		certificate, err := p.get(ctx, "cert-manager.io/v1", "Certificate", name)
		if err != nil || certificate == nil {
			return err
		}
		secret, _, _ := unstructured.NestedString(certificate.Object, "spec", "secretName")
		if found, err := p.get(ctx, "v1", "Secret", secret); err != nil || found != nil {
			if err != nil {
				return err
			}
			continue
		}
		files := map[string][]byte{"tls.crt": p.authority.pem, "ca.crt": p.authority.pem}
		if names, _, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames"); len(names) > 0 {
			folder := p.cluster.file("issued-in-" + p.namespace)
			if _, err := p.authority.issue(folder, names...); err != nil {
				return err
			}
			for _, file := range []string{"tls.crt", "tls.key"} {
				if files[file], err = os.ReadFile(filepath.Join(folder, file)); err != nil {
					return err
				}
			}
		}
		if err := p.storeSecret(ctx, secret, files); err != nil {
			return err
		}
	}
	return nil
}

func (p *played) storeSecret(ctx context.Context, name string, files map[string][]byte) error {
	data := map[string]any{}
	for file, content := range files {
		data[file] = base64.StdEncoding.EncodeToString(content)
	}
	secret := object(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: %s}}", p.namespace, name))
	secret.Object["data"] = data
	return p.cluster.api.apply(ctx, secret)
}

// forgets removes the secrets, which cert-manager keeps.
func (p *played) forgets(ctx context.Context, secrets ...string) error {
	for _, name := range secrets {
		if err := p.cluster.api.delete(ctx, object(fmt.Sprintf(
			"{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: %s}}", p.namespace, name))); err != nil {
			return err
		}
	}
	return nil
}

// starts runs the program of the Deployment, anew when the pods would be others, and reports that it is available.
func (p *played) starts(ctx context.Context) error {
	deployment, err := p.get(ctx, "apps/v1", "Deployment", release)
	if err != nil || deployment == nil {
		return err
	}
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
	if err != nil {
		return err
	}
	text, err := json.Marshal(template)
	if err != nil {
		return err
	}
	if runs := fmt.Sprintf("%x", sha256.Sum256(text)); runs != p.runs {
		if err := p.run(ctx, template); err != nil {
			return err
		}
		p.runs = runs
	}
	replicas, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas")
	status := fmt.Sprintf("{observedGeneration: %d, replicas: %d, updatedReplicas: %[2]d, readyReplicas: %[2]d, availableReplicas: %[2]d}",
		deployment.GetGeneration(), replicas)
	return p.cluster.api.patchStatus(ctx, deployment, "{status: "+status+"}")
}

// run starts the container of a pod, as the kubelet would.
func (p *played) run(ctx context.Context, template map[string]any) error {
	mounted, err := p.mounts(ctx, template)
	if err != nil {
		return err
	}
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
	arguments, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
	p.provider.arguments = nil
	for _, argument := range arguments {
		name, value, _ := strings.Cut(argument, "=")
		switch name {
		case "--module":
			value = filepath.Join(p.cluster.repository, "target/placement-guard.wasm")
		case "--listen":
			value = fmt.Sprintf("127.0.0.1:%d", p.provider.port)
		case "--operations":
			value = fmt.Sprintf("127.0.0.1:%d", p.provider.operations)
		}
		for path, folder := range mounted {
			if rest, isBelow := strings.CutPrefix(value, path+"/"); isBelow {
				value = filepath.Join(folder, rest)
			}
		}
		if value != "" {
			name += "=" + value
		}
		p.provider.arguments = append(p.provider.arguments, name)
	}
	p.stops()
	started, err := p.cluster.start("released", p.cluster.program("placement-guard"), nil, p.provider.arguments...)
	if err != nil {
		return err
	}
	p.provider.process = started
	return eventually(ctx, "the program of the release is ready", started, func() error {
		_, err := p.provider.operation(ctx, "readyz")
		return err
	})
}

func (p *played) stops() {
	if p.provider.process != nil {
		p.provider.process.stop()
		p.provider.process = nil
	}
	p.runs = ""
}

// mounts writes the volumes of a pod into folders. It returns the folder of each path in the container.
func (p *played) mounts(ctx context.Context, template map[string]any) (map[string]string, error) {
	volumes, _, _ := unstructured.NestedSlice(template, "spec", "volumes")
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
	mounts, _, _ := unstructured.NestedSlice(containers[0].(map[string]any), "volumeMounts")
	mounted := map[string]string{}
	for _, each := range mounts {
		mount := each.(map[string]any)
		folder := p.cluster.file(fmt.Sprintf("volume-%v-in-%s", mount["name"], p.namespace))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		for _, each := range volumes {
			volume := each.(map[string]any)
			if volume["name"] != mount["name"] {
				continue
			}
			files, err := p.files(ctx, volume)
			if err != nil {
				return nil, err
			}
			for name, content := range files {
				if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
					return nil, err
				}
			}
		}
		mounted[mount["mountPath"].(string)] = folder
	}
	return mounted, nil
}

// files of a volume: those of a secret, or only the listed ones, or those of a ConfigMap.
func (p *played) files(ctx context.Context, volume map[string]any) (map[string][]byte, error) {
	files := map[string][]byte{}
	if name, isMap, _ := unstructured.NestedString(volume, "configMap", "name"); isMap {
		found, err := p.get(ctx, "v1", "ConfigMap", name)
		if err != nil || found == nil {
			return nil, errors.Join(err, fmt.Errorf("no ConfigMap `%s`", name))
		}
		data, _, _ := unstructured.NestedStringMap(found.Object, "data")
		for file, content := range data {
			files[file] = []byte(content)
		}
		return files, nil
	}
	name, _, _ := unstructured.NestedString(volume, "secret", "secretName")
	found, err := p.get(ctx, "v1", "Secret", name)
	if err != nil || found == nil {
		return nil, errors.Join(err, fmt.Errorf("no Secret `%s`", name))
	}
	data, _, _ := unstructured.NestedStringMap(found.Object, "data")
	items, isListed, _ := unstructured.NestedSlice(volume, "secret", "items")
	paths := map[string]string{}
	for _, item := range items {
		paths[fmt.Sprint(item.(map[string]any)["key"])] = fmt.Sprint(item.(map[string]any)["path"])
	}
	for file, content := range data {
		path, isItem := paths[file]
		if isListed && !isItem {
			continue
		}
		if !isListed {
			path = file
		}
		if files[path], err = base64.StdEncoding.DecodeString(content); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// leads lets the webhook of the release call the running program, with the CA that cert-manager would put in. It returns the
// configuration as Helm made it.
func (p *played) leads(ctx context.Context) (*unstructured.Unstructured, error) {
	configuration, err := p.clusterwide(ctx, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", release)
	if err != nil || configuration == nil {
		return nil, errors.Join(err, errors.New("no webhook"))
	}
	wanted := fmt.Sprintf("%s/%s", p.namespace, release)
	if from := configuration.GetAnnotations()["cert-manager.io/inject-ca-from"]; from != wanted {
		return nil, fmt.Errorf("the CA would come from %q", from)
	}
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	client := webhooks[0].(map[string]any)["clientConfig"].(map[string]any)
	path, _, _ := unstructured.NestedString(client, "service", "path")
	webhooks[0].(map[string]any)["clientConfig"] = map[string]any{
		"url":      fmt.Sprintf("https://127.0.0.1:%d%s", p.provider.port, path),
		"caBundle": base64.StdEncoding.EncodeToString(p.authority.pem),
	}
	changed := configuration.DeepCopy()
	if err := unstructured.SetNestedSlice(changed.Object, webhooks, "webhooks"); err != nil {
		return nil, err
	}
	return configuration, p.update(ctx, changed)
}

// update replaces an object, whatever has changed it before.
func (p *played) update(ctx context.Context, changed *unstructured.Unstructured) error {
	client, err := p.cluster.api.client(changed)
	if err != nil {
		return err
	}
	changed.SetResourceVersion("")
	stored, err := client.Get(ctx, changed.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	changed.SetResourceVersion(stored.GetResourceVersion())
	_, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

// provides lets Gatekeeper call the running program. Whom it trusts is left as Helm made it.
func (p *played) provides(ctx context.Context) error {
	found, err := p.clusterwide(ctx, "externaldata.gatekeeper.sh/v1beta1", "Provider", release)
	if err != nil || found == nil {
		return err
	}
	url := fmt.Sprintf("https://127.0.0.1:%d/v1/query", p.provider.port)
	if now, _, _ := unstructured.NestedString(found.Object, "spec", "url"); now == url {
		return nil
	}
	return p.cluster.api.patch(ctx, found, fmt.Sprintf("{spec: {url: %q}}", url), false)
}

// lets a volume go that is deleted, as the controller of volumes in use would.
func (p *played) releasesVolumes(ctx context.Context) error {
	volume, err := p.clusterwide(ctx, "v1", "PersistentVolume", "demo")
	if err != nil || volume == nil || volume.GetDeletionTimestamp() == nil {
		return err
	}
	err = p.cluster.api.patch(ctx, volume, "{metadata: {finalizers: null}}", false)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
