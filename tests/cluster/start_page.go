package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mostCommands is how many each door of docs/start.md may have.
const mostCommands = 8

// command is a command of docs/start.md, and the lines that the page shows of what it prints.
type command struct {
	command string
	shows   []string
}

// door reads the commands below a heading of docs/start.md. A block of output belongs to the command before it.
func (c *cluster) door(heading string) ([]command, error) {
	text, err := os.ReadFile(filepath.Join(c.repository, "docs/start.md"))
	if err != nil {
		return nil, err
	}
	_, below, isThere := strings.Cut(string(text), "\n## "+heading+"\n")
	if !isThere {
		return nil, fmt.Errorf("docs/start.md has no door %q", heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	var steps []command
	block := ""
	for _, line := range strings.Split(below, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			block = strings.TrimPrefix(line, "```")
		case block == "console":
			steps = append(steps, command{command: line})
		case block == "text":
			last := &steps[len(steps)-1]
			last.shows = append(last.shows, line)
		}
	}
	if len(steps) == 0 || len(steps) > mostCommands {
		return nil, fmt.Errorf("%q has %d commands, and may have %d", heading, len(steps), mostCommands)
	}
	return steps, nil
}

// walk runs the commands of a door as they are written. A command that shows a refusal must fail, and every other must work.
// What a policy or a constraint does comes into force after a moment. Something may be done before the last command, which
// tidies up.
func (c *cluster) walk(ctx context.Context, heading string, beforeLast func(context.Context) error) error {
	steps, err := c.door(heading)
	if err != nil {
		return err
	}
	refusals := 0
	for i, step := range steps {
		if i == len(steps)-1 && beforeLast != nil {
			if err := beforeLast(ctx); err != nil {
				return err
			}
		}
		isRefused := strings.Contains(strings.Join(step.shows, "\n"), "denied the request")
		try := func() error {
			printed, err := c.shell(ctx, step.command)
			switch {
			case isRefused && err == nil:
				return fmt.Errorf("%s: it works, and a refusal is shown: %s", step.command, printed)
			case isRefused:
				printed, err = err.Error(), nil
			}
			return errors.Join(err, contains(printed, step.shows...))
		}
		// What the test plays, such as the address of the provider, also comes into force after a moment.
		if len(step.shows) > 0 || strings.HasPrefix(step.command, "kubectl ") {
			err = eventually(ctx, step.command, nil, try)
		} else {
			err = try()
		}
		if err != nil {
			return err
		}
		if isRefused {
			refusals++
		}
	}
	if refusals == 0 {
		return fmt.Errorf("%q shows no refusal", heading)
	}
	return nil
}
