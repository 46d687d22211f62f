// The real thing: etcd, Kubernetes' API server, its scheduler and controller manager, and Gatekeeper as plain processes on
// loopback, our files applied as they are but for the provider's address and CA, and what users do. It prints what it shows,
// and stops at the first thing that is not so. Every process that it started is stopped in any case.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
)

// The main goroutine stays on the main thread: processes that it starts end with that thread, and so with this program,
// however it ends.
func init() { runtime.LockOSThread() }

func main() {
	parts := map[string]func(*cluster) []step{"test": everything, "scheduling": alone, "bench": bench}
	if len(os.Args) != 4 || parts[os.Args[3]] == nil {
		fmt.Fprintln(os.Stderr, "usage: cluster-tests REPOSITORY PROGRAMS test|scheduling|bench")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2], parts[os.Args[3]]); err != nil {
		fmt.Fprintf(os.Stderr, "cluster-%s failed: %v\n", os.Args[3], err)
		os.Exit(1)
	}
	fmt.Printf("cluster-%s: everything holds\n", os.Args[3])
}

// step is a thing that is shown. What was seen may follow in the printed line.
type step struct {
	what string
	do   func(context.Context) error
}

// everything is what `make cluster-test` shows.
func everything(c *cluster) []step {
	return slices.Concat(c.rendered(), []step{{"etcd and the API server start", c.startControlPlane}},
		c.ways(), c.admission(), c.scheduling())
}

// alone is the half of `everything` that needs neither Gatekeeper nor what was done with it.
func alone(c *cluster) []step {
	return slices.Concat([]step{
		{"etcd and the API server start", c.startControlPlane},
		{"the webhook is asked, without Gatekeeper", c.onlyWebhook},
	}, c.scheduling())
}

// bench is what `make cluster-bench` measures.
func bench(c *cluster) []step {
	return []step{
		{"etcd and the API server start", c.startControlPlane},
		{"the webhook is asked, without Gatekeeper", c.onlyWebhook},
		{"the scheduler and the controller manager start", c.startScheduling},
		{"bindings per second of the real scheduler", c.measureBindings},
	}
}

func run(ctx context.Context, repository, programs string, part func(*cluster) []step) (err error) {
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
	for _, step := range part(cluster) {
		begun := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Printf("ok  %s%s (%.1f s)\n", step.what, cluster.seen, time.Since(begun).Seconds())
		cluster.seen = ""
	}
	return nil
}

// rendered is what the chart says, without a cluster.
func (c *cluster) rendered() []step {
	return []step{
		{"the chart says the same as the manifests", c.chartSaysTheSame},
		{"the chart can be rendered with many values", c.chartRenders},
	}
}

// ways is how people install us. Each leaves nothing, except Gatekeeper, which stays.
func (c *cluster) ways() []step {
	return []step{
		{"the chart is installed as a webhook, upgraded from an older one, and leaves nothing", c.chartAsWebhook},
		{"the overlays for Kubewarden are its policies in another mode", c.overlaysAreThePolicies},
		{"docs/start.md leads through the door of Kubewarden", c.doorOfKubewarden},
		{"Gatekeeper starts", c.startGatekeeper},
		{"docs/start.md leads through the door of Gatekeeper, with the chart, which leaves nothing", c.doorOfGatekeeper},
	}
}

// admission is what the API server, Gatekeeper and we do to requests, without any controller.
func (c *cluster) admission() []step {
	return []step{
		{"the provider starts with the built module", c.startProvider},
		{"the API server takes our files as they are", c.applyFiles},
		{"parameters that the settings do not know are refused when they are applied", c.wrongParameters},
		{"as shipped, what would be refused is said in a warning", c.warnsAsShipped},
		{"an audit lists what is there already", c.auditLists},
		{"with `deny`, taking a zone away from a volume is refused", c.narrowingIsRefused},
		{"the announcement's edit, zone to region, is refused, and accepted with the zones declared", c.announcement},
		{"a pod is refused for its tolerations, and another is accepted", c.tolerations},
		{"numbers of a million and more arrive as they are", c.largeNumbers},
		{"a CSIDriver is refused for where its tokens go", c.driverTokens},
		{"with the provider killed everything judged is refused, and accepted again after its restart", c.outage},
		{"a certificate is rotated under load, and no request fails", c.rotation},
		{"through Gatekeeper, a volume that a pod uses keeps its node, and each edit is asked anew", c.liveThroughGatekeeper},
		{"the same edits through the webhook, without Gatekeeper", c.plainWebhook},
		{"with settings that read the cluster and no access to it, the server does not start", c.withoutAccess},
		{"through the webhook, a volume that a pod uses keeps its node", c.liveThroughWebhook},
		{"a node gets another zone, and the answer is another one within 5 s", c.relabelled},
		{"with its permissions taken away the server refuses, and it answers when it has them again", c.withoutPermission},
		{"with the API server down the server refuses, and then it knows what is there", c.outageOfCluster},
	}
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
	client     *kubernetes.Clientset
	scheduler  *process
	gate       *gate
	// What a step saw, for the line that is printed of it.
	seen string
}

// saw adds to the line that is printed of a step.
func (c *cluster) saw(format string, values ...any) { c.seen += ": " + fmt.Sprintf(format, values...) }

func (c *cluster) file(name string) string    { return filepath.Join(c.folder, name) }
func (c *cluster) program(name string) string { return filepath.Join(c.programs, name) }
func (c *cluster) ours(name string) string    { return filepath.Join(c.repository, "policies", name) }
