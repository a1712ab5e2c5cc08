package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/tools/kernelvm/plan"
)

// hear lets a report of two packages hear a machine's events and console.
func hear(t *testing.T, console string, events ...plan.Event) (shown string, verdict error) {
	var out, control bytes.Buffer
	for _, e := range events {
		require.NoError(t, plan.Send(&control, e))
	}
	r := newReport(&out, []testBinary{{pkg: "m/a"}, {pkg: "m/b"}})
	require.NoError(t, r.readConsole(strings.NewReader(console)))
	require.NoError(t, r.readOutput(strings.NewReader("PASS\nlast line without an end")))
	require.NoError(t, r.readEvents(&control))
	return out.String(), r.verdict()
}

func ran(pkg string, status int) []plan.Event {
	return []plan.Event{{Kind: plan.Started, Package: pkg}, {Kind: plan.Ended, Package: pkg, Status: status, Took: 1500 * time.Millisecond}}
}

func up(more ...[]plan.Event) []plan.Event {
	events := []plan.Event{{Kind: plan.Booted, Text: "6.1.0"}}
	for _, m := range more {
		events = append(events, m...)
	}
	return events
}

var done = []plan.Event{{Kind: plan.Done}}

func TestAllPassed(t *testing.T) {
	shown, err := hear(t, "some noise\r\n", up(ran("m/a", 0), ran("m/b", 0), done)...)
	require.NoError(t, err)
	assert.Contains(t, shown, "Linux 6.1.0 is up")
	assert.Contains(t, shown, "PASS\nlast line without an end")
	assert.Contains(t, shown, "ok  \tm/a\t1.500s\nok  \tm/b\t1.500s\n")
}

func TestFailedTests(t *testing.T) {
	shown, err := hear(t, "", up(ran("m/a", 1), ran("m/b", 0), done)...)
	assert.ErrorContains(t, err, "m/a: exit status 1")
	assert.NotContains(t, err.Error(), "m/b")
	assert.Contains(t, shown, "FAIL\tm/a")
}

func TestKernelPanic(t *testing.T) {
	_, err := hear(t, "quiet\r\n[ 3.1] Kernel panic - not syncing: Fatal exception\r\n[ 3.2] Rebooting\r\n",
		up(ran("m/a", 0), ran("m/b", 0)[:1])...)
	require.Error(t, err)
	for _, want := range []string{"kernel says: [ 3.1] Kernel panic", "m/b was running", "not run to the end: m/b", "its console:\nquiet\n", "Rebooting"} {
		assert.Contains(t, err.Error(), want)
	}
}

// A kernel's complaint counts even if the tests did not mind.
func TestKernelComplains(t *testing.T) {
	_, err := hear(t, "BUG: unable to handle page fault\r\n", up(ran("m/a", 0), ran("m/b", 0), done)...)
	assert.ErrorContains(t, err, "the machine's kernel says: BUG: unable to handle page fault")
}

func TestMachineThatDoesNotComeUp(t *testing.T) {
	_, err := hear(t, "No working init found.\r\n")
	assert.ErrorContains(t, err, "the machine did not come up")
	assert.ErrorContains(t, err, "No working init found.")

	_, err = hear(t, "", plan.Event{Kind: plan.Problem, Text: "kernel module x: exec format error"}, done[0])
	assert.ErrorContains(t, err, "kernel module x: exec format error")
}

func TestOnlyTheLastLinesOfTheConsoleAreShown(t *testing.T) {
	var console strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&console, "line %d\n", i)
	}
	_, err := hear(t, console.String())
	assert.NotContains(t, err.Error(), fmt.Sprintf("line %d\n", 1000-keepLines-1))
	assert.ErrorContains(t, err, fmt.Sprintf("line %d\n", 1000-keepLines))
}

func TestGarbageForEvents(t *testing.T) {
	r := newReport(new(bytes.Buffer), nil)
	assert.ErrorContains(t, r.readEvents(strings.NewReader("{]\n")), "events of the machine")
}

func TestNothingRunIsNotPassed(t *testing.T) {
	r := newReport(new(bytes.Buffer), nil)
	require.NoError(t, r.readOutput(strings.NewReader("testing: warning: no tests to run\nPASS\n")))
	assert.ErrorContains(t, r.verdict(), "a package without a test that -run fits")
}

// A kernel that has locked up is worth another machine, a test that has not ended is not.
func TestKernelStandsStill(t *testing.T) {
	for console, want := range map[string]bool{
		"[ 112.5] watchdog: BUG: soft lockup - CPU#0 stuck for 62s! [run:162]\nKernel panic - not syncing: softlockup: hung tasks\n": true,
		"Kernel panic - not syncing: Fatal exception\n": false,
		"": false,
	} {
		r := newReport(io.Discard, []testBinary{{pkg: "m/a"}})
		require.NoError(t, r.readConsole(strings.NewReader(console)))
		assert.Equal(t, want, r.stoodStill(), console)
		r.event(ran("m/a", 0)[1])
		assert.False(t, r.stoodStill(), "nothing is left to run")
	}
}
