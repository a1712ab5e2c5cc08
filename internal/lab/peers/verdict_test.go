package peers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/stats"
)

func TestAims(t *testing.T) {
	for _, tc := range []struct {
		transport, table string
		cell             bench.Cell
		peer             string
		want             Aim
	}{
		{sm, pingpong, ping(8), "openmpi", Aim{1, 1.3}},
		{sm, pingpong, ping(16), "mpich", Aim{1, 1.25}},
		{sm, pingpong, ping(4 << 10), "openmpi", Aim{0.8, 1.25}},
		{sm, pingpong, ping(64 << 10), "mpich", Aim{0.8, 1.25}},
		{sm, pingpong, ping(1 << 20), "openmpi", Aim{0.6, 1.25}},
		{sm, stream, streamOf(64 << 10), "openmpi", Aim{1.2, 1.25}},
		{sm, stream, streamOf(8), "openmpi", Aim{1, 1.25}},
		{tcp, pingpong, ping(8), "raw", Aim{1.05, 1.25}},
		{tcp, pingpong, ping(4 << 20), "raw", Aim{1.15, 1.25}},
		{tcp, pingpong, ping(4 << 20), "openmpi", Aim{1, 1.25}},
		{tcp, stream, streamOf(16 << 10), "raw", Aim{0.9, 1.25}},
		{tcp, stream, streamOf(8 << 10), "raw", Aim{}},
		{tcp, burst, streamOf(64 << 10), "raw", Aim{}},
		{tcp, burst, streamOf(64 << 10), "openmpi", Aim{1, 1.25}},
	} {
		got, has := aimOf(&Table{Transport: tc.transport, Name: tc.table}, tc.cell, tc.peer)
		assert.Equal(t, tc.want, got, "%s %s %d %s", tc.transport, tc.table, tc.cell.Size, tc.peer)
		assert.Equal(t, tc.want != Aim{}, has)
	}
}

// A cell fails only if its whole interval is on the wrong side, and is far off by its ratio.
func TestJudge(t *testing.T) {
	ratio := func(low, value, high float64) stats.Ratio {
		return stats.Ratio{Value: value, N: 9, Interval: stats.Interval{Low: low, High: high, Level: 0.96}}
	}
	for _, tc := range []struct {
		aim  Aim
		less bool
		is   stats.Ratio
		want Verdict
	}{
		{Aim{1, 1.25}, true, ratio(0.8, 0.9, 0.99), Holds},
		{Aim{1, 1.25}, true, ratio(0.99, 1.2, 1.4), Holds},     // reaches the right side
		{Aim{1, 1.25}, true, ratio(0.99, 1.5, 1.9), Undecided}, // so does this, and is wide
		{Aim{1, 1.25}, true, ratio(0.4, 0.7, 1.0), Holds},      // wide, and all of it on the right side
		{Aim{1, 1.25}, true, ratio(1.1, 1.5, 2.9), FarOff},     // and on the wrong one
		{Aim{1, 1.25}, true, ratio(1.01, 1.1, 1.2), Fails},
		{Aim{1, 1.25}, true, ratio(1.2, 1.26, 1.3), FarOff},
		{Aim{1, 1.3}, true, ratio(1.2, 1.26, 1.3), Fails},
		{Aim{0.8, 1.25}, true, ratio(0.81, 0.9, 0.95), Fails},
		{Aim{0.8, 1.25}, true, ratio(0.9, 1.01, 1.1), FarOff},
		{Aim{1, 1.25}, false, ratio(1.01, 1.1, 1.2), Holds},
		{Aim{1, 1.25}, false, ratio(0.9, 0.95, 1.0), Holds},
		{Aim{1, 1.25}, false, ratio(0.9, 0.95, 0.99), Fails},
		{Aim{1, 1.25}, false, ratio(0.7, 0.79, 0.9), FarOff},
		{Aim{1, 1.25}, false, ratio(0.7, 0.79, 1.1), Undecided},
		{Aim{1, 1.25}, false, ratio(1.0, 1.4, 2.0), Holds},
		{Aim{1.2, 1.25}, false, ratio(1.0, 1.1, 1.19), Fails},
		{Aim{1, 1.25}, false, stats.Ratio{Value: 0.1, N: 5, Interval: stats.Interval{Low: 0.1, High: 0.1, Level: 0.94}}, Undecided},
		{Aim{1, 1.25}, false, stats.Ratio{}, Undecided},
	} {
		assert.Equal(t, tc.want, tc.aim.judge(tc.is, tc.less), "%+v %v %+v", tc.aim, tc.less, tc.is)
	}
}

// Rates are compared as rates, times as times, and the better variant counts.
func TestCompare(t *testing.T) {
	r := synthetic(tcp, stream, streamOf(64<<10), 6, map[string]float64{"strand": 10, "openmpi defaults": 8, "openmpi unbound": 5, "raw bbr": 20})
	c := only(r, "openmpi")
	assert.Equal(t, "unbound", c.Variant)
	assert.Equal(t, "tcp/stream/64K/openmpi", c.Path)
	assert.InDelta(t, 0.5, c.Ratio.Value, 1e-9)
	assert.Equal(t, FarOff, c.Verdict)
	assert.Equal(t, Holds, only(r, "raw").Verdict)
	assert.Empty(t, only(r, "mpich").Path, "who is not here is not compared")

	r = synthetic(tcp, pingpong, ping(8), 6, map[string]float64{"strand": 11, "openmpi defaults": 10})
	assert.InDelta(t, 1.1, only(r, "openmpi").Ratio.Value, 1e-9)
	assert.Equal(t, Fails, only(r, "openmpi").Verdict)

	r = synthetic(tcp, pingpong, ping(8), 5, map[string]float64{"strand": 11, "openmpi defaults": 10})
	assert.Equal(t, Undecided, only(r, "openmpi").Verdict, "five rounds are too few")
}

// A round in which a contender failed does not count.
func TestMissingRounds(t *testing.T) {
	r := synthetic(tcp, pingpong, ping(8), 7, map[string]float64{"strand": 8, "openmpi defaults": 10})
	r.Tables[0].Rows[0].Times["openmpi defaults"][3] = 0
	c := only(r, "openmpi")
	assert.Equal(t, 6, c.Ratio.N)
	assert.InDelta(t, 0.8, c.Ratio.Value, 0.01)
	r.Tables[0].Rows[0].Times["strand"] = nil
	assert.Equal(t, Undecided, only(r, "openmpi").Verdict, "what has nothing has not passed")
	assert.Contains(t, r.Page(nil, "p"), "| 8 | – | – | ? – | – |")
}

// Where Strand failed in a round the others say little: that one might have been the slowest. It is not decided, however many
// rounds there are.
func TestNoVerdictWhereStrandFailed(t *testing.T) {
	r := synthetic(tcp, pingpong, ping(8), 9, map[string]float64{"strand": 8, "openmpi defaults": 10})
	require.Equal(t, Holds, only(r, "openmpi").Verdict)
	r.Tables[0].Rows[0].Times["openmpi defaults"][3] = failedTime
	require.Equal(t, Holds, only(r, "openmpi").Verdict)
	r.Tables[0].Rows[0].Times["strand"][4] = failedTime
	c := only(r, "openmpi")
	assert.Equal(t, Undecided, c.Verdict)
	assert.Equal(t, 7, c.Ratio.N)
	s := r.Tables[0].score(r)
	assert.Equal(t, "–", s.Word())
	assert.Equal(t, 1, s.Undecided)
}

// Where a ratio differs much from round to round nothing is decided; if many do the run says nothing. How fast a pair is differs
// from start to start, that of raw sockets too, and that alone is no reason.
func TestNoise(t *testing.T) {
	r := synthetic(tcp, pingpong, ping(8), 8, map[string]float64{"strand": 20, "openmpi defaults": 10, "raw cubic": 5})
	require.Equal(t, FarOff, only(r, "openmpi").Verdict)
	assert.Empty(t, r.Problems())
	times := r.Tables[0].Rows[0].Times
	copy(times["raw cubic"], []float64{5, 5, 9, 5, 9, 9, 9, 9})
	assert.Equal(t, FarOff, only(r, "openmpi").Verdict)
	assert.Empty(t, r.Problems())

	copy(times["strand"], []float64{20, 20, 20, 8, 8, 8, 20, 8})
	assert.Equal(t, Undecided, only(r, "openmpi").Verdict)
	require.Len(t, r.Problems(), 1)
	assert.Contains(t, r.Problems()[0], "2 of 2 ratios are not decided")

	for i := range 5 {
		r.Rounds[i].Others = 0.4
	}
	assert.Contains(t, r.Problems()[0], "other programs had 40 % of the processors")
	assert.Contains(t, r.Page(nil, "p"), "**INVALID: the machine was not quiet.**")
}

func TestScore(t *testing.T) {
	var all []Comparison
	add := func(n int, v Verdict, ratio float64) {
		for range n {
			all = append(all, Comparison{Path: "x", Verdict: v, Aim: Aim{1, 1.25}, Ratio: stats.Ratio{Value: ratio}})
		}
	}
	assert.False(t, score(nil, true).Passes(), "nothing decided")
	assert.Equal(t, "–", score(nil, true).Word())
	add(19, Holds, 0.9)
	add(3, NoAim, 3)
	add(2, Undecided, 3)
	add(1, Fails, 1.1)
	s := score(all, true)
	assert.Equal(t, 20, s.Judged)
	assert.Equal(t, 2, s.Undecided)
	assert.True(t, s.Passes(), "1 of 20")
	add(1, Fails, 1.2)
	s = score(all, true)
	assert.False(t, s.Passes(), "2 of 21")
	assert.InDelta(t, 1.2, s.Worst.Ratio.Value, 1e-9)
	assert.InDelta(t, 1.1, score(all, false).Worst.Ratio.Value, 1e-9, "of rates the least")
	all = all[:20]
	add(1, FarOff, 1.3)
	assert.False(t, score(all, true).Passes())
}
