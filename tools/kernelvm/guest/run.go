//go:build linux

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

// stopBefore is how long before the machine's limit a test binary ends itself,
// with the stacks of its goroutines.
const stopBefore = 10 * time.Second

// runAll runs every test, whatever the others find.
func (m *machine) runAll() {
	start := time.Now()
	for _, t := range m.plan.Tests {
		m.tell(plan.Event{Kind: plan.Started, Package: t.Package})
		begin := time.Now()
		status, err := m.run(t, m.plan.Limit-time.Since(start))
		if err != nil {
			m.tell(plan.Event{Kind: plan.Problem, Package: t.Package, Text: err.Error()})
		}
		drain(m.output)
		m.tell(plan.Event{Kind: plan.Ended, Package: t.Package, Status: status, Took: time.Since(begin)})
	}
}

// run runs one test binary and returns its exit status. Flags of the user's come
// last and so have the last word, on -test.timeout too.
func (m *machine) run(t plan.Test, left time.Duration) (status int, err error) {
	limit := max(left-stopBefore, time.Second)
	args := append([]string{"-test.timeout=" + limit.String()}, m.plan.Flags...)
	cmd := exec.Command(t.Binary, args...)
	cmd.Dir = t.Dir
	cmd.Env = append([]string{"PATH=/bin", "HOME=/", "TMPDIR=/tmp", plan.Kernel + "=1"}, m.plan.Env...)
	cmd.Stdout, cmd.Stderr = m.output, m.output
	err = cmd.Run()
	var exit *exec.ExitError
	if err == nil {
		return 0, nil
	}
	if !errors.As(err, &exit) {
		return 1, fmt.Errorf("could not be run: %w", err)
	}
	if wait, ok := exit.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return 128 + int(wait.Signal()), fmt.Errorf("killed by signal %v", wait.Signal())
	}
	return exit.ExitCode(), nil
}
