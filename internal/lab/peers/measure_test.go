package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/param"
)

// asMember is the first argument with which this test program is a process that is measured.
const asMember = "peers-member"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asMember {
		if err := bench.Member(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// small measures two cells, beside raw and one who is not there.
func small(t *testing.T) *Measurement {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	settings := []param.Setting{{Name: "btl", Text: "tcp,self"}}
	params, err := registry.Resolve(param.Inputs{Settings: settings})
	require.NoError(t, err)
	dir, err := bench.NewFolder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	setup := bench.Setup{Against: []string{"raw", "nobody"}, Settings: settings, Params: params, Program: program, Arguments: []string{asMember}, Dir: dir}
	two := []Row{{Cell: bench.Cell{Workload: bench.PingPong, Pairs: 1, Window: 1, Size: 8}}, {Cell: bench.Cell{Workload: bench.Pairs, Pairs: 2, Window: 2, Size: 1000}}}
	return &Measurement{
		Report: New([]Table{{Transport: tcp, Name: pairs, Rows: two}}, 2), Setups: map[string]bench.Setup{tcp: setup}, Rounds: 2,
		order: func(c bench.Cell) bench.Order { return bench.Order{Cell: c, Iters: 2} },
	}
}

func TestMeasurement(t *testing.T) {
	leak.Check(t)
	m := small(t)
	saved, done, total := 0, 0, 0
	m.Save = func() error { saved++; return nil }
	m.Progress = func(d, of int) { done, total = d, of }
	require.NoError(t, m.Run(t.Context()))
	assert.Equal(t, 2, saved)
	assert.Equal(t, total, done)
	assert.Len(t, m.Report.Rounds, 2)
	assert.Empty(t, m.Report.Notes)
	require.Len(t, m.Report.Missing, 1)
	assert.Contains(t, m.Report.Missing[0], `--against "nobody"`)
	for _, row := range m.Report.Tables[0].Rows {
		for _, key := range []string{strandKey, m.Report.Contenders[0].Key()} {
			require.Len(t, row.Times[key], 2, key)
			assert.Positive(t, row.Times[key][1])
			assert.Positive(t, row.Processor[key][1])
		}
	}
	assert.Contains(t, m.Report.Contenders[0].Key(), "raw ")
}

// What was measured before the end stays, whole rounds of it, and a report can be gone on with.
func TestMeasurementEndsAndGoesOn(t *testing.T) {
	leak.Check(t)
	m := small(t)
	m.Report.Tables[0].Rows = m.Report.Tables[0].Rows[:1]
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	m.Progress = func(done, of int) {
		if done == of/2+1 {
			cancel(enough)
		}
	}
	require.ErrorIs(t, m.Run(ctx), enough)
	require.Len(t, m.Report.Rounds, 1)
	assert.Len(t, m.Report.Tables[0].Rows[0].Times[strandKey], 1)

	again := small(t)
	again.Report = m.Report
	again.Limit = time.Nanosecond // at least one round is made, and one block of each cell
	again.Rounds = 3
	require.NoError(t, again.Run(t.Context()))
	assert.Len(t, m.Report.Rounds, 2)
	assert.Len(t, m.Report.Tables[0].Rows[0].Times[strandKey], 2)
	assert.Contains(t, m.Report.Notes[0], "ended after 2 of 3 rounds")
}

// Who fails is told of, and has nothing in that round.
func TestMeasurementGoesOnWithoutWhoFails(t *testing.T) {
	leak.Check(t)
	m := small(t)
	setup := m.Setups[tcp]
	setup.Program, setup.Arguments = "sh", []string{"-c", "echo this is why >&2; exit 3"}
	m.Setups[tcp] = setup
	m.Rounds = 1
	require.NoError(t, m.Run(t.Context()))
	assert.Len(t, m.Report.Rounds, 1)
	require.NotEmpty(t, m.Report.Notes)
	assert.Contains(t, m.Report.Notes[0], "round 1, tcp, 1 pairs: strand")
	assert.Contains(t, m.Report.Notes[0], "exited with status 3")
	assert.Empty(t, m.Report.Tables[0].Rows[0].Times[strandKey])
	assert.Contains(t, m.Report.Page(nil, "p"), "## What went wrong")
}

// Who fails in a cell has that written down there, and nothing in those that follow in the round.
func TestMeasurementTellsWhereSomebodyFailed(t *testing.T) {
	leak.Check(t)
	m := small(t)
	rows := m.Report.Tables[0].Rows
	rows[1] = Row{Cell: bench.Cell{Workload: bench.PingPong, Pairs: 1, Window: 1, Size: 16}}
	m.Report.Tables[0].Rows = append(rows, Row{Cell: bench.Cell{Workload: bench.PingPong, Pairs: 1, Window: 1, Size: 32}})
	m.Rounds = 1
	m.order = func(c bench.Cell) bench.Order {
		o := bench.Order{Cell: c, Iters: 2}
		if c.Size == 16 {
			o.Iters = 0 // which no process takes
		}
		return o
	}
	require.NoError(t, m.Run(t.Context()))
	rows = m.Report.Tables[0].Rows
	assert.Positive(t, rows[0].Times[strandKey][0])
	assert.Equal(t, []float64{failedTime}, rows[1].Times[strandKey])
	assert.Empty(t, rows[2].Times[strandKey])
}
