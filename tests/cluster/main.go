// The real thing: etcd, Kubernetes' API server and Gatekeeper as plain processes on loopback, our files applied as they
// are but for the provider's address and CA, and what users do. It prints what it shows, and stops at the first thing
// that is not so. Every process that it started is stopped in any case.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// The main goroutine stays on the main thread: processes that it starts end with that thread, and so with this program,
// however it ends.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cluster-tests REPOSITORY PROGRAMS")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster-test failed:", err)
		os.Exit(1)
	}
	fmt.Println("cluster-test: everything holds")
}

func run(ctx context.Context, repository, programs string) (err error) {
	folder, err := os.MkdirTemp("", "placement-guard-cluster-")
	if err != nil {
		return err
	}
	cluster := &cluster{repository: repository, programs: programs, folder: folder}
	defer func() {
		cluster.stopAll()
		if err != nil {
			err = fmt.Errorf("%w\nthe logs are in %s", err, folder)
			return
		}
		err = os.RemoveAll(folder)
	}()
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the chart says the same as the manifests", cluster.chartSaysTheSame},
		{"the chart can be rendered with many values", cluster.chartRenders},
		{"etcd and the API server start", cluster.startControlPlane},
		{"the chart is installed as a webhook, upgraded from an older one, and leaves nothing", cluster.chartAsWebhook},
		{"the overlays for Kubewarden are its policies in another mode", cluster.overlaysAreThePolicies},
		{"docs/start.md leads through the door of Kubewarden", cluster.doorOfKubewarden},
		{"Gatekeeper starts", cluster.startGatekeeper},
		{"docs/start.md leads through the door of Gatekeeper, with the chart, which leaves nothing", cluster.doorOfGatekeeper},
		{"the provider starts with the built module", cluster.startProvider},
		{"the API server takes our files as they are", cluster.applyFiles},
		{"parameters that the settings do not know are refused when they are applied", cluster.wrongParameters},
		{"as shipped, what would be refused is said in a warning", cluster.warnsAsShipped},
		{"an audit lists what is there already", cluster.auditLists},
		{"with `deny`, taking a zone away from a volume is refused", cluster.narrowingIsRefused},
		{"the announcement's edit, zone to region, is refused, and accepted with the zones declared", cluster.announcement},
		{"a pod is refused for its tolerations, and another is accepted", cluster.tolerations},
		{"numbers of a million and more arrive as they are", cluster.largeNumbers},
		{"a CSIDriver is refused for where its tokens go", cluster.driverTokens},
		{"with the provider killed everything judged is refused, and accepted again after its restart", cluster.outage},
		{"a certificate is rotated under load, and no request fails", cluster.rotation},
		{"through Gatekeeper, a volume that a pod uses keeps its node, and each edit is asked anew", cluster.liveThroughGatekeeper},
		{"the same edits through the webhook, without Gatekeeper", cluster.plainWebhook},
		{"with settings that read the cluster and no access to it, the server does not start", cluster.withoutAccess},
		{"through the webhook, a volume that a pod uses keeps its node", cluster.liveThroughWebhook},
		{"a node gets another zone, and the answer is another one within 5 s", cluster.relabelled},
		{"with its permissions taken away the server refuses, and it answers when it has them again", cluster.withoutPermission},
		{"with the API server down the server refuses, and then it knows what is there", cluster.outageOfCluster},
	} {
		begun := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Printf("ok  %s (%.1f s)\n", step.what, time.Since(begun).Seconds())
	}
	return nil
}

// cluster is what runs, and where its files are.
type cluster struct {
	repository string
	programs   string
	folder     string
	processes  []*process
	api        *api
	authority  *authority
	apiServer  apiServer
	apiPort    int
	provider   *provider
}

func (c *cluster) file(name string) string    { return filepath.Join(c.folder, name) }
func (c *cluster) program(name string) string { return filepath.Join(c.programs, name) }
func (c *cluster) ours(name string) string    { return filepath.Join(c.repository, "policies", name) }
