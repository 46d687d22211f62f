package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scheduling is what becomes of pods: what we say of it before, and what Kubernetes then does.
func (c *cluster) scheduling() []step {
	return []step{
		{"the scheduler and the controller manager start", c.startScheduling},
		{"the forecast of an eviction is what the taint-eviction controller does", c.forecastEvictions},
		{"tokens move to secrets when the last straggler is done", c.rolloutGate},
		{"the second pod on a ReadWriteOncePod claim is named, and the scheduler agrees", c.sharedClaim},
		{"a volume moves between the scheduler's decision and its binding", c.race},
		{"the API server is restarted in the middle of a burst", c.restartInBurst},
		{"two volumes that no node has together are called so, and the scheduler agrees", c.unreachableTogether},
	}
}

const schedulingSettings = `
nodeTaints: {evictions: warn}
volumeBinding: {unreachableTogether: warn}
accessModes: {sharedClaims: warn}
csiDriverTokens:
  rollout:
    minKubelet: "1.35"
    nodePlugins:
      - {driver: rollout.example.com, namespace: drivers, daemonSet: csi-node, container: driver, minVersion: "1.6.0"}
`

// startScheduling starts the scheduler, and of the controller manager what evicts pods and what binds claims to volumes.
func (c *cluster) startScheduling(ctx context.Context) error {
	if err := os.WriteFile(c.file("admin"), []byte(c.access(token)), 0o600); err != nil {
		return err
	}
	if err := c.judgeBy(ctx, schedulingSettings); err != nil {
		return err
	}
	if err := c.runScheduler(ctx); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	manager, err := c.start("kube-controller-manager", c.program("kube-controller-manager"), nil,
		"--kubeconfig="+c.file("admin"), "--leader-elect=false", "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+c.file("kube-controller-manager"),
		// The taint-eviction controller finds the pods of a node by an index that the node-lifecycle controller makes. That
		// one would call nodes without a kubelet lost: it is given a day before it does.
		"--controllers=taint-eviction-controller,node-lifecycle-controller,persistentvolume-binder-controller",
		"--node-monitor-grace-period=24h", "--node-startup-grace-period=24h",
		"--feature-gates=TaintTolerationComparisonOperators=true",
		"--kube-api-qps=1000", "--kube-api-burst=1000", "--pvclaimbinder-sync-period=1s",
	)
	if err != nil {
		return err
	}
	return eventually(ctx, "the controller manager is ready", manager, func() error { return healthy(ctx, port) })
}

// runScheduler starts the scheduler. It tries a pod again after a second, and asks as often as it likes.
func (c *cluster) runScheduler(ctx context.Context) error {
	configuration := fmt.Sprintf(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
clientConnection: {kubeconfig: %s, qps: 5000, burst: 5000}
`, c.file("admin"))
	if err := os.WriteFile(c.file("scheduler.yaml"), []byte(configuration), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	c.scheduler, err = c.start("kube-scheduler", c.program("kube-scheduler"), nil,
		"--config="+c.file("scheduler.yaml"), "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir="+c.file("kube-scheduler"), "--feature-gates=TaintTolerationComparisonOperators=true",
	)
	if err != nil {
		return err
	}
	return eventually(ctx, "the scheduler is ready", c.scheduler, func() error { return healthy(ctx, port) })
}

// healthy asks a program of Kubernetes, which has a certificate that it made itself.
func healthy(ctx context.Context, port int) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/healthz", port), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}

// judgeBy starts the server anew with these settings and access to the cluster. What it cannot judge is refused.
func (c *cluster) judgeBy(ctx context.Context, settings string, options ...string) error {
	kubeconfig, err := c.becomeReader(ctx, "webhook/cluster-reader.yaml", "placement-guard")
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file("scheduling-settings.yaml"), []byte(settings), 0o600); err != nil {
		return err
	}
	options = append(options, "--settings="+c.file("scheduling-settings.yaml"), "--kubeconfig="+kubeconfig)
	c.provider.arguments = slices.DeleteFunc(c.provider.arguments, func(argument string) bool {
		name, _, _ := strings.Cut(argument, "=")
		return slices.ContainsFunc(options, func(option string) bool { return strings.HasPrefix(option, name+"=") })
	})
	c.provider.arguments = append(c.provider.arguments, options...)
	c.provider.process.kill()
	if err := c.runProvider(ctx); err != nil {
		return err
	}
	return c.changeWebhook(ctx, "webhook.yaml", refuseUnjudged)
}

// holds waits until the server holds as many objects of a kind as there are.
func (c *cluster) holds(ctx context.Context, kind string, count func() (int, error)) error {
	return eventually(ctx, "the server holds every "+kind, c.provider.process, func() error {
		wanted, err := count()
		if err != nil {
			return err
		}
		metrics, err := c.provider.operation(ctx, "metrics")
		if err != nil {
			return err
		}
		line := fmt.Sprintf("placement_guard_cluster_objects{kind=%q} ", kind)
		_, rest, _ := strings.Cut(metrics, line)
		held, _, _ := strings.Cut(rest, "\n")
		if held != strconv.Itoa(wanted) {
			return fmt.Errorf("it holds %q of %d", held, wanted)
		}
		return nil
	})
}

// holdsPods waits until the server holds every pod.
func (c *cluster) holdsPods(ctx context.Context) error {
	return c.holds(ctx, "Pod", func() (int, error) {
		pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, err
		}
		return len(pods.Items), nil
	})
}
