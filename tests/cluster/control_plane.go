package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const token = "cluster-tests"

func (c *cluster) startControlPlane(ctx context.Context) error {
	ports := make([]int, 3)
	for i := range ports {
		port, err := freePort()
		if err != nil {
			return err
		}
		ports[i] = port
	}
	store, peers := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if _, err := c.start("etcd", c.program("etcd"), nil,
		"--data-dir="+c.file("etcd"), "--listen-client-urls="+store, "--advertise-client-urls="+store,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers,
		"--unsafe-no-fsync",
	); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(c.file("accounts.key"), encoded, 0o600); err != nil {
		return err
	}
	users := token + ",admin,admin,\"system:masters\"\n"
	if err := os.WriteFile(c.file("tokens.csv"), []byte(users), 0o600); err != nil {
		return err
	}
	c.apiServer.arguments = []string{
		"--etcd-servers=" + store, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
		"--cert-dir=" + c.file("kube-apiserver"), "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("accounts.key"),
		"--service-account-signing-key-file=" + c.file("accounts.key"),
		"--token-auth-file=" + c.file("tokens.csv"), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--advertise-address=127.0.0.1",
		"--disable-admission-plugins=ServiceAccount",
		"--feature-gates=MutablePVNodeAffinity=true,TaintTolerationComparisonOperators=true",
	}
	c.apiPort = ports[2]
	c.api = &api{config: &rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", ports[2]), BearerToken: token,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 200, Burst: 400,
	}}
	// The same access for what is done many times: it knows the kinds, and does not ask for them.
	config := rest.CopyConfig(c.api.config)
	config.QPS, config.WarningHandler = -1, c.api
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	return c.runAPIServer(ctx)
}

// apiServer is Kubernetes' own.
type apiServer struct {
	process   *process
	arguments []string
}

// runAPIServer starts it, again with the same arguments and data once it has ended.
func (c *cluster) runAPIServer(ctx context.Context) error {
	started, err := c.start("kube-apiserver", c.program("kube-apiserver"), nil, c.apiServer.arguments...)
	if err != nil {
		return err
	}
	c.apiServer.process = started
	return eventually(ctx, "the API server is ready", started, func() error { return c.api.ready(ctx) })
}
