package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	chart   = "charts/placement-guard"
	release = "placement-guard"
)

// shell runs a line as a user would type it in a clone of the repository, with the built programs on the path. It returns
// what is printed, errors included.
func (c *cluster) shell(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", line)
	command.Dir = c.repository
	command.Env = []string{
		"PATH=" + c.programs + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + c.file("home"),
		"KUBECONFIG=" + c.file("admin"),
	}
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	command.WaitDelay = time.Second
	err := command.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", line, err, printed.String())
	}
	return printed.String(), err
}

// becomeAdmin lets the tools of users reach the API server.
func (c *cluster) becomeAdmin() error {
	return os.WriteFile(c.file("admin"), []byte(c.access(token)), 0o600)
}

// contains wants every one of these lines in what was printed.
func contains(printed string, lines ...string) error {
	for _, line := range lines {
		if !strings.Contains(printed, line) {
			return fmt.Errorf("expected %q in %s", line, printed)
		}
	}
	return nil
}
