package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Objects that come and go by themselves.
var restless = []string{"events", "leases", "events.events.k8s.io", "leases.coordination.k8s.io"}

// inventory lists every object of the cluster.
func (c *cluster) inventory(ctx context.Context) (map[string]bool, error) {
	known, err := discovery.NewDiscoveryClientForConfig(c.api.config)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.api.config)
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := known.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			kind := version.WithResource(resource.Name)
			if strings.Contains(resource.Name, "/") || !has(resource.Verbs, "list") || has(restless, kind.GroupResource().String()) {
				continue
			}
			objects, err := client.Resource(kind).List(ctx, metav1.ListOptions{})
			// A kind may end while its template is deleted, and tables of some kinds are only for asking.
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
			for _, each := range objects.Items {
				found[fmt.Sprintf("%s %s/%s", kind.GroupResource(), each.GetNamespace(), each.GetName())] = true
			}
		}
	}
	return found, nil
}

func has(list []string, wanted string) bool {
	for _, each := range list {
		if each == wanted {
			return true
		}
	}
	return false
}

// left fails if the cluster has other objects than before.
func (c *cluster) left(ctx context.Context, before map[string]bool) error {
	now, err := c.inventory(ctx)
	if err != nil {
		return err
	}
	var differing []string
	for each := range now {
		if !before[each] {
			differing = append(differing, "left: "+each)
		}
	}
	for each := range before {
		if !now[each] {
			differing = append(differing, "gone: "+each)
		}
	}
	sort.Strings(differing)
	if len(differing) > 0 {
		return fmt.Errorf("the cluster is not as before:\n%s", strings.Join(differing, "\n"))
	}
	return nil
}
