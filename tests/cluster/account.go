package main

import (
	"context"
	"fmt"
	"os"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// becomeReader gives the service account of a namespace the permissions in one of our files, and exactly those. It writes
// the file with which the program reads the cluster as that account: kubelet would mount the token into the pod.
func (c *cluster) becomeReader(ctx context.Context, file, namespace string) (kubeconfig string, err error) {
	found, err := objects(c.ours(file), nil)
	if err != nil {
		return "", err
	}
	for _, each := range found {
		if err := c.api.apply(ctx, each); err != nil {
			return "", fmt.Errorf("%s: %s `%s`: %w", file, each.GetKind(), each.GetName(), err)
		}
	}
	client, err := kubernetes.NewForConfig(c.api.config)
	if err != nil {
		return "", err
	}
	seconds := int64(3600)
	asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	issued, err := client.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, "placement-guard", asked, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	kubeconfig = c.file("reader-in-" + namespace)
	return kubeconfig, os.WriteFile(kubeconfig, []byte(c.access(issued.Status.Token)), 0o600)
}

// access is a kubeconfig for a client that has the token.
func (c *cluster) access(token string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: it,
clusters: [{name: it, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}],
users: [{name: it, user: {token: %s}}], contexts: [{name: it, context: {cluster: it, user: it}}]}`, c.apiPort, token)
}

// mayRead says whether the account may read the kinds that our files name.
func (c *cluster) mayRead(ctx context.Context, may bool) error {
	binding := object(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: placement-guard-cluster-reader}
`)
	if !may {
		return c.api.delete(ctx, binding)
	}
	return c.applyOurs(ctx, "cluster-reader.yaml")
}
