package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// withoutAccess wants the program not to start where its settings read a cluster that it cannot reach.
func (c *cluster) withoutAccess(ctx context.Context) error {
	settings := "volumeNodeAffinity: " + usesVolumes + "\n"
	if err := os.WriteFile(c.file("live-settings.yaml"), []byte(settings), 0o600); err != nil {
		return err
	}
	c.provider.arguments = replaced(c.provider.arguments, "--settings", c.file("live-settings.yaml"))
	// No pod, even where these tests run in one.
	nowhere := []string{"KUBERNETES_SERVICE_HOST=", "KUBERNETES_SERVICE_PORT="}
	started, err := c.start("no-access", c.program("placement-guard"), nowhere, c.provider.arguments...)
	if err != nil {
		return err
	}
	select {
	case <-started.ended:
	case <-time.After(time.Minute):
		return errors.New("it runs without the cluster that its settings read")
	case <-ctx.Done():
		return ctx.Err()
	}
	printed, err := os.ReadFile(c.file("no-access.log"))
	if err != nil {
		return err
	}
	if started.command.ProcessState.Success() {
		return fmt.Errorf("it ended as if all were well: %s", printed)
	}
	for _, wanted := range []string{
		"the settings need `Node, Pod, PersistentVolumeClaim, VolumeAttachment` of the cluster, and there is no access to it",
		"give `--kubeconfig`",
	} {
		if !strings.Contains(string(printed), wanted) {
			return fmt.Errorf("expected %q, printed %s", wanted, printed)
		}
	}
	return nil
}

// replaced has another value for an option.
func replaced(arguments []string, option, value string) []string {
	var changed []string
	for _, argument := range arguments {
		if name, _, _ := strings.Cut(argument, "="); name == option {
			argument = option + "=" + value
		}
		changed = append(changed, argument)
	}
	return changed
}

// liveThroughWebhook leaves volume `used` in use, and volume `unused` not.
func (c *cluster) liveThroughWebhook(ctx context.Context) error {
	kubeconfig, err := c.becomeReader(ctx, "webhook/cluster-reader.yaml", "placement-guard")
	if err != nil {
		return err
	}
	c.provider.arguments = append(c.provider.arguments, "--kubeconfig="+kubeconfig)
	if err := c.runProvider(ctx); err != nil {
		return err
	}
	for _, volume := range []string{"used", "unused"} {
		if err := c.claimed(ctx, volume); err != nil {
			return err
		}
	}
	if err := c.takeZone(ctx, "used"); err != nil {
		return fmt.Errorf("before a pod has it: %w", err)
	}
	if err := c.use(ctx, "used"); err != nil {
		return err
	}
	return within(5*time.Second, "the answers are right", func() error { return c.rightAnswers(ctx) })
}

// rightAnswers wants the edit refused of the volume that a pod uses, by name, and accepted of the other.
func (c *cluster) rightAnswers(ctx context.Context) error {
	if err := refused(c.takeZone(ctx, "used"), webhook, inUse("used")); err != nil {
		return err
	}
	return c.takeZone(ctx, "unused")
}

// relabelled moves the node of the pod into the zone that the volume keeps, and back.
func (c *cluster) relabelled(ctx context.Context) error {
	node := object("{apiVersion: v1, kind: Node, metadata: {name: node-c}}")
	move := func(zone string) error {
		return c.api.patch(ctx, node, "{metadata: {labels: {topology.kubernetes.io/zone: "+zone+"}}}", false)
	}
	if err := move("us-east1-b"); err != nil {
		return err
	}
	if err := within(5*time.Second, "the edit is accepted, as no node loses the volume", func() error {
		return c.takeZone(ctx, "used")
	}); err != nil {
		return err
	}
	if err := move("us-east1-c"); err != nil {
		return err
	}
	return within(5*time.Second, "the edit is refused again", func() error { return c.rightAnswers(ctx) })
}

// withoutPermission takes the permissions away from the running program, and gives them back.
func (c *cluster) withoutPermission(ctx context.Context) error {
	if err := c.mayRead(ctx, false); err != nil {
		return err
	}
	ask := func(volume string) (string, error) {
		err := c.takeZone(ctx, volume)
		if err == nil {
			return "", nil
		}
		return err.Error(), nil
	}
	if err := c.unreadable(ctx, "the server's account may not get them", ask); err != nil {
		return err
	}
	if err := c.mayRead(ctx, true); err != nil {
		return err
	}
	return eventually(ctx, "the answers are right again", c.provider.process, func() error { return c.rightAnswers(ctx) })
}

// unreadable waits until both edits are refused because the cluster cannot be read, and wants that to last. The edit of the
// volume that is in use must not be accepted meanwhile. To `ask` is to learn why an edit is refused, if it is.
func (c *cluster) unreadable(ctx context.Context, why string, ask func(volume string) (string, error)) error {
	wanted := "cluster unreadable: cannot read `persistentvolumeclaims`: " + why
	var accepted error
	both := func() error {
		for _, volume := range []string{"used", "unused"} {
			refusal, err := ask(volume)
			if err != nil {
				return err
			}
			if refusal == "" && volume == "used" {
				accepted = errors.New("the edit of a volume that is in use was accepted")
			}
			if !strings.Contains(refusal, wanted) {
				return fmt.Errorf("volume `%s`: expected %q, got %q", volume, wanted, refusal)
			}
		}
		return nil
	}
	if err := eventually(ctx, "the cluster is unreadable", c.provider.process, func() error {
		return errors.Join(both(), accepted)
	}); err != nil {
		return err
	}
	for range 10 {
		if err := errors.Join(both(), accepted); err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

// outageOfCluster stops the API server, asks as it would, and starts it again.
func (c *cluster) outageOfCluster(ctx context.Context) error {
	ask := map[string]func() (string, error){}
	for _, volume := range []string{"used", "unused"} {
		review, err := c.reviewOf(ctx, volume)
		if err != nil {
			return err
		}
		ask[volume] = func() (string, error) { return c.provider.admit(ctx, review) }
	}
	refusal, err := ask["used"]()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(refusal, inUse("used")) {
		return fmt.Errorf("expected %q, got %q", inUse("used"), refusal)
	}
	c.apiServer.process.kill()
	if err := c.unreadable(ctx, "the API server does not answer", func(volume string) (string, error) {
		return ask[volume]()
	}); err != nil {
		return err
	}
	if err := c.runAPIServer(ctx); err != nil {
		return err
	}
	if err := eventually(ctx, "the answers are right again", c.provider.process, func() error {
		return c.rightAnswers(ctx)
	}); err != nil {
		return err
	}
	// Of now, and not of what was held before.
	if err := c.leave(ctx, "used"); err != nil {
		return err
	}
	if err := c.use(ctx, "unused"); err != nil {
		return err
	}
	// It tries again every 5 s, and then has to read everything anew.
	return within(15*time.Second, "what changed since is known", func() error {
		if err := refused(c.takeZone(ctx, "unused"), webhook, inUse("unused")); err != nil {
			return err
		}
		return c.takeZone(ctx, "used")
	})
}
