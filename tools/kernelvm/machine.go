package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bootTime is how long, beyond the limit for the tests, a machine may take to
// come up and to power off. An idle computer takes 2 s.
const bootTime = 60 * time.Second

// A machine is a computer to boot.
type machine struct {
	tools         tools
	kernel, image string
	processors    int
	memory        int // MB
	limit         time.Duration
}

// arguments are QEMU's. Its serial lines are pipes of this process's, in the
// order of package plan. A kernel that has gone wrong reboots at once instead
// of going on for a while, and with -no-reboot that ends the machine.
// The kernel is told not to check whether timers come in time: where the computer
// is very busy they do not, and it would panic. A processor that has stood still
// for a minute does end it, and the console says where.
func (m *machine) arguments() []string {
	return []string{
		"-accel", "tcg,thread=multi", "-cpu", "max",
		"-smp", strconv.Itoa(m.processors), "-m", strconv.Itoa(m.memory),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-serial", "file:/dev/fd/3", "-serial", "file:/dev/fd/4", "-serial", "file:/dev/fd/5",
		"-kernel", m.kernel, "-initrd", m.image,
		"-append", "console=ttyS0 quiet panic=-1 oops=panic mitigations=off no_timer_check watchdog_thresh=30 softlockup_panic=1",
	}
}

// boot runs the machine to its end and reports what it says. The error is about
// the machine, not about the tests.
func (m *machine) boot(ctx context.Context, r *report) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.limit+bootTime, fmt.Errorf("it has not ended after %v (-limit %v)", m.limit+bootTime, m.limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, m.tools["qemu-system-x86_64"], m.arguments()...)
	cmd.SysProcAttr = endWithParent()
	var complaint strings.Builder
	cmd.Stderr = &complaint

	var readers sync.WaitGroup
	var ours []*os.File
	var failures [3]error
	for i, read := range []func(io.Reader) error{r.readConsole, r.readOutput, r.readEvents} {
		in, out, err := os.Pipe()
		if err != nil {
			return err
		}
		defer in.Close()
		ours = append(ours, out)
		cmd.ExtraFiles = append(cmd.ExtraFiles, out)
		readers.Go(func() { failures[i] = read(in) })
	}
	err := cmd.Start()
	for _, f := range ours {
		f.Close()
	}
	if err == nil {
		err = cmd.Wait()
	}
	readers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = fmt.Errorf("the machine was ended: %w", cause)
	} else if err != nil {
		err = fmt.Errorf("%s: %w: %s", m.tools["qemu-system-x86_64"], err, strings.TrimSpace(complaint.String()))
	}
	return errors.Join(append(failures[:], err)...)
}
