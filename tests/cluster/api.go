package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	sigsyaml "sigs.k8s.io/yaml"
)

// api talks to the API server as kubectl does.
type api struct {
	config *rest.Config
	mutex  sync.Mutex
	heard  []string
}

func (a *api) ready(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(a.config)
	if err != nil {
		return err
	}
	return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// HandleWarningHeader keeps the warnings that came with an answer.
func (a *api) HandleWarningHeader(_ int, _ string, text string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.heard = append(a.heard, text)
}

// warnings that came since they were last asked for.
func (a *api) warnings() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	heard := a.heard
	a.heard = nil
	return heard
}

// client of the kind of an object. What kinds there are is asked anew each time: templates make some.
func (a *api) client(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	config := rest.CopyConfig(a.config)
	config.WarningHandler = a
	known, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	kind := object.GroupVersionKind()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(known))
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// apply stores an object as `kubectl apply --server-side` does: unknown fields are errors.
func (a *api) apply(ctx context.Context, object *unstructured.Unstructured) error {
	client, err := a.client(object)
	if err != nil {
		return err
	}
	options := metav1.ApplyOptions{FieldManager: "cluster-tests", Force: true}
	_, err = client.Apply(ctx, object.GetName(), object, options)
	return err
}

// create stores a new object; a rehearsal is judged and not stored.
func (a *api) create(ctx context.Context, object *unstructured.Unstructured, rehearsal bool) error {
	client, err := a.client(object)
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if rehearsal {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = client.Create(ctx, object, options)
	return err
}

// patch merges a change, written as YAML, into an object.
func (a *api) patch(
	ctx context.Context, object *unstructured.Unstructured, change string, rehearsal bool, subresources ...string,
) error {
	client, err := a.client(object)
	if err != nil {
		return err
	}
	merged, err := sigsyaml.YAMLToJSON([]byte(change))
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}
	if rehearsal {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = client.Patch(ctx, object.GetName(), types.MergePatchType, merged, options, subresources...)
	return err
}

// patchStatus merges a change into the status of an object.
func (a *api) patchStatus(ctx context.Context, object *unstructured.Unstructured, change string) error {
	return a.patch(ctx, object, change, false, "status")
}

// bind gives a pod a node, as the scheduler does.
func (a *api) bind(ctx context.Context, pod *unstructured.Unstructured, node string) error {
	client, err := a.client(pod)
	if err != nil {
		return err
	}
	binding := object(fmt.Sprintf(`
apiVersion: v1
kind: Binding
metadata: {name: %s, namespace: %s}
target: {apiVersion: v1, kind: Node, name: %s}
`, pod.GetName(), pod.GetNamespace(), node))
	_, err = client.Create(ctx, binding, metav1.CreateOptions{}, "binding")
	return err
}

func (a *api) get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := a.client(object)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, object.GetName(), metav1.GetOptions{})
}

// delete removes an object at once: no kubelet would end a pod.
func (a *api) delete(ctx context.Context, object *unstructured.Unstructured) error {
	client, err := a.client(object)
	if err != nil {
		return err
	}
	immediately := int64(0)
	return client.Delete(ctx, object.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &immediately})
}

// objects reads the documents of a file, or of the files of a folder in the order of their names.
func objects(path string, edit func([]byte) []byte) ([]*unstructured.Unstructured, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
			return nil, err
		}
		sort.Strings(files)
	}
	var found []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if edit != nil {
			text = edit(text)
		}
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := documents.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			found = append(found, object)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no object", path)
	}
	return found, nil
}

// object reads one that is written in place.
func object(text string) *unstructured.Unstructured {
	read := &unstructured.Unstructured{}
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096).Decode(read); err != nil {
		panic(fmt.Sprintf("%v in %s", err, text))
	}
	return read
}

// answers asks a plain URL.
func answers(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, response.Status, body)
	}
	return string(body), err
}
