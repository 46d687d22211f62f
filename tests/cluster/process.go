package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is one that was started here, known by its id.
type process struct {
	name    string
	command *exec.Cmd
	ended   chan struct{}
}

func (c *cluster) start(name, program string, environment []string, arguments ...string) (*process, error) {
	log, err := os.OpenFile(c.file(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = log, log
	command.Env = append(os.Environ(), environment...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	started := &process{name: name, command: command, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(started.ended)
	}()
	c.processes = append(c.processes, started)
	return started, nil
}

// stop asks it to end, and does not ask a second time.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// stopAll stops the last started first.
func (c *cluster) stopAll() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].stop()
	}
}

// freePort is a free port of loopback.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// eventually tries until it works, and gives up with the last reason after a while, or at once when a process has ended.
func eventually(ctx context.Context, what string, needed *process, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		var ended <-chan struct{}
		if needed != nil {
			ended = needed.ended
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-ended:
			return fmt.Errorf("%s: %s has ended: %w", what, needed.name, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
