//go:build linux

package compare

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// The comparison of the thesis with the kernel's own SCTP and TCP over its own emulation of networks
// (docs/results/thesis.md). The long form is the page's. The rate is low, so that the emulated processors
// are not the limit alone; how idle they were is shown.
func TestKernelThesis(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	need.KernelSCTP(t)
	tasks, losses, ranks, runs := "farm(tasks=20,size=30000,ordering=relaxed)", []float64{0.02}, 3, 1
	if need.Soaking() {
		tasks = "pingpong(size=30000,rounds=10,warmup=1),farm(size=30000,fanout=10,tasks=100,ordering=relaxed)"
		losses, ranks, runs = []float64{0, 0.02}, 4, 6
	}
	p := plan(t, "tcp(congestion=reno),sctp(stack=kernel,streams=10,max_frame=16K),sctp(stack=kernel,streams=1,max_frame=16K)", tasks, losses...)
	for i := range p.Links {
		p.Links[i].Rate, p.Links[i].Delay = 20*emulate.Mbit, 100*time.Microsecond
	}
	p.Ranks, p.Runs, p.Pins.Buffer, p.Timeout = ranks, runs, 220<<10, 3*time.Minute
	ground, err := Emulate(t.Context(), p.Wanted(), p.MTU, "netem")
	if missing, ok := errors.AsType[*network.NetemError](err); ok {
		need.KernelNetem(t, missing)
	}
	require.NoError(t, err)
	idle := new(idleness)
	c := config(t, p, ground, "")
	c.Watch = idle.watch
	r, err := Run(t.Context(), c)
	require.NoError(t, err)
	report.Sum(r)
	require.NoError(t, report.WriteMarkdown(t.Output(), r, nil))
	for _, v := range r.Variants {
		require.Empty(t, v.Unable)
	}
	require.Len(t, idle.shares, len(r.Cells))
	for i := range r.Cells {
		t.Logf("%s: the processors were idle for %.0f %% of the time", report.CellText(r, i), 100*idle.shares[i])
		for _, run := range r.Cells[i].Runs {
			assert.Empty(t, run.Error)
		}
	}
}

// idleness is for how much of each cell's time the processors had nothing to do.
type idleness struct {
	cell            int
	idleThen, atAll float64
	shares          []float64
}

func (i *idleness) watch(s State) {
	if s.Cell == i.cell && s.Cell != TryingOut {
		return
	}
	idle, all := processorTime()
	if s.Cell != TryingOut && (s.Cell > 0 || s.Cell == Over) {
		i.shares = append(i.shares, (idle-i.idleThen)/(all-i.atAll))
	}
	i.cell, i.idleThen, i.atAll = s.Cell, idle, all
}

// processorTime is how long all processors have been idle, and that and all else, in ticks (proc(5), /proc/stat).
func processorTime() (idle, all float64) {
	text, err := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, wait, irq, softirq, steal float64
	if err == nil {
		_, err = fmt.Sscanf(line, "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal)
	}
	if err != nil {
		return 0, 1
	}
	idle += wait
	return idle, user + nice + system + idle + irq + softirq + steal
}
