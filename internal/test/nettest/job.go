//go:build linux

package nettest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/testnet"
)

// DefaultTimeout ends a job that hangs.
const DefaultTimeout = 4 * time.Minute

// A Job says what to run, and each rank's host.
type Job struct {
	Placement []*testnet.Host
	Prefixes  [][]string // instead: what leads each rank to a host of another kind
	Program   string
	Args      []string
	Env       []string // "NAME=VALUE", for all ranks

	KeepGoing bool          // when a rank fails
	Timeout   time.Duration // 0: DefaultTimeout
}

// Run runs the job to its end.
func (j Job) Run(t testing.TB) *Run {
	t.Helper()
	r := j.Start(t)
	_ = r.Wait() // the caller's to look at
	return r
}

// Start starts the job, whose ranks do not outlive the test.
func (j Job) Start(t testing.TB) *Run {
	t.Helper()
	timeout := j.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	places := j.places()
	r := &Run{t: t, rec: newRecord(len(places)), over: make(chan struct{})}
	config := job.Config{
		Ranks: len(places), Program: "/bin/sh", Args: append([]string{"-c", script(places), "sh", j.Program}, j.Args...),
		Environ: j.Env, Stdout: r.rec.writer(false), Stderr: r.rec.writer(true), TagOutput: true, Verbose: true,
		Timeout: timeout, KeepGoing: j.KeepGoing,
	}
	go func() {
		defer close(r.over)
		r.verdict = job.Run(ctx, config)
		r.rec.finish()
	}()
	t.Cleanup(func() {
		cancel(errors.New("the test has ended"))
		<-r.over
		if t.Failed() {
			t.Logf("the job ended with %v; its output:\n%s", r.verdict, r)
		}
	})
	return r
}

// places are what leads each rank to its host.
func (j Job) places() (places []string) {
	for _, h := range j.Placement {
		places = append(places, strings.Join(h.Prefix(), " "))
	}
	for _, prefix := range j.Prefixes {
		places = append(places, strings.Join(prefix, " "))
	}
	return places
}

// script returns what each rank's shell does: it takes the rank to its host,
// with the local rank that it has there, and turns into the program.
func script(places []string) string {
	var b strings.Builder
	b.WriteString("case $PMI_RANK in\n")
	for rank, place := range places {
		before, all := 0, 0
		for other, p := range places {
			if p == place {
				all++
				if other < rank {
					before++
				}
			}
		}
		fmt.Fprintf(&b, "%d) export MPI_LOCALRANKID=%d MPI_LOCALNRANKS=%d; exec %s \"$@\";;\n", rank, before, all, place)
	}
	b.WriteString("esac\n")
	return b.String()
}

// A Run is a job that was started.
type Run struct {
	t       testing.TB
	rec     *record
	over    chan struct{}
	verdict error
}

// Wait returns when all ranks have exited, with the launcher's verdict, the
// same as [job.Run]'s.
func (r *Run) Wait() error {
	<-r.over
	return r.verdict
}

// Lines returns what a rank has written so far.
func (r *Run) Lines(rank int) []Line {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	return slices.Clone(r.rec.ranks[rank].lines)
}

// Status tells how a rank has ended: "exited with status 0", "ended by SIGKILL",
// or "" if it has not.
func (r *Run) Status(rank int) string {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	return r.rec.ranks[rank].status
}

// Await returns the first line of a rank that contains a text, as soon as there
// is one, and ends the test if the job ends without.
func (r *Run) Await(rank int, text string) Line {
	r.t.Helper()
	for over := false; ; {
		changed := r.rec.changes()
		for _, line := range r.Lines(rank) {
			if strings.Contains(line.Text, text) {
				return line
			}
		}
		if over {
			r.t.Fatalf("rank %d has ended without a line that contains %q", rank, text)
		}
		select {
		case <-changed:
		case <-r.over:
			over = true
		}
	}
}

// Signal sends a signal to a rank, once it has started.
func (r *Run) Signal(rank int, signal syscall.Signal) {
	r.t.Helper()
	for {
		changed := r.rec.changes()
		r.rec.mu.Lock()
		pid := r.rec.ranks[rank].pid
		r.rec.mu.Unlock()
		if pid > 0 {
			if err := syscall.Kill(pid, signal); err != nil {
				r.t.Errorf("rank %d, pid %d: %v", rank, pid, err)
			}
			return
		}
		select {
		case <-changed:
		case <-r.over:
			r.t.Fatalf("rank %d has not started: %v", rank, r.verdict)
		}
	}
}

// String returns all output, rank by rank.
func (r *Run) String() string {
	r.rec.mu.Lock()
	defer r.rec.mu.Unlock()
	var b strings.Builder
	for rank, k := range r.rec.ranks {
		for _, line := range k.lines {
			fmt.Fprintf(&b, "%s [%d] %s\n", line.At.Format("05.000"), rank, line.Text)
		}
		fmt.Fprintf(&b, "rank %d: %s\n", rank, k.status)
	}
	return b.String()
}
