package results_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
)

func TestFailedRunsAreNoValues(t *testing.T) {
	cell := &synthetic().Cells[0]
	assert.Equal(t, []float64{3, 4}, cell.Values("tcp", results.RunTime))
	assert.Equal(t, []float64{2}, cell.Values("sctp(streams=10)", results.RunTime))
	assert.Equal(t, []string{"rank 2\ncrashed"}, cell.Failures("sctp(streams=10)"))
	assert.Len(t, cell.Of("sctp(streams=10)"), 2)
}

// Pairs are of the same round, whatever the order in which the runs were made, or failed.
func TestPairsAreOfARound(t *testing.T) {
	run := func(variant string, round int, value float64, failure string) results.Run {
		return results.Run{Variant: variant, Round: round, Metrics: map[string]float64{results.RunTime: value}, Error: failure}
	}
	cell := results.Cell{Runs: []results.Run{
		run("a", 0, 1, ""), run("b", 0, 10, ""), run("b", 1, 20, ""), run("c", 1, 7, ""), run("a", 1, 2, ""),
		run("a", 2, 3, ""), run("b", 2, 30, "crashed"), run("b", 3, 40, ""), run("a", 3, 4, ""), run("a", 3, 5, ""), run("a", 4, 6, ""),
	}}
	a, b := cell.Pairs("a", "b", results.RunTime)
	assert.Equal(t, []float64{1, 2, 4}, a)
	assert.Equal(t, []float64{10, 20, 40}, b)
	a, b = cell.Pairs("a", "a", results.RunTime)
	assert.Equal(t, a, b)
	a, _ = cell.Pairs("a", "nobody", results.RunTime)
	assert.Empty(t, a)
}

func TestProgressCountsWhatCanRun(t *testing.T) {
	r := synthetic()
	over, all := r.Progress()
	assert.Equal(t, [2]int{4, 4}, [2]int{over, all})
	r.Cells = append(r.Cells, results.Cell{Workload: results.HOL, Ranks: 2}, results.Cell{Workload: results.HOL, Ranks: 2, Unable: "no"})
	_, all = r.Progress()
	assert.Equal(t, 8, all)
	r.Variants = append(r.Variants, results.Variant{Name: "udp", Unable: "there is none"})
	_, all = r.Progress()
	assert.Equal(t, 8, all)
}

func TestKeys(t *testing.T) {
	cell := func(size float64, loss float64) *results.Cell {
		link := emulate.Link{Path: emulate.Path{Delay: time.Millisecond, Loss: emulate.Independent(loss)}}
		return &results.Cell{Workload: results.Farm, Ranks: 4, Params: map[string]any{"size": size, "fanout": 1.0}, Link: &link}
	}
	assert.Equal(t, cell(1, 0.1).Key(), cell(1, 0.1).Key())
	assert.NotEqual(t, cell(1, 0.1).Key(), cell(1, 0.2).Key())
	assert.NotEqual(t, cell(1, 0.1).Key(), cell(2, 0.1).Key())
	assert.InDelta(t, 0.1, cell(1, 0.1).Loss(), 1e-9)
}

func TestParamsOfAWorkload(t *testing.T) {
	params, err := results.ParamsOf(struct {
		Size     int     `json:"size"`
		Fanout   float64 `json:"fanout"`
		Ordering string  `json:"ordering"`
	}{30000, 10, "strict"})
	require.NoError(t, err)
	cell := results.Cell{Params: params}
	assert.Equal(t, 30000.0, cell.Number("size"))
	assert.Equal(t, 10.0, cell.Number("fanout"))
	assert.Equal(t, "strict", cell.Text("ordering"))
	assert.Zero(t, cell.Number("ordering"))
}

func TestEveryWorkloadHasAHeadline(t *testing.T) {
	for _, w := range results.Workloads {
		m, known := w.Metric(w.Headline().Name)
		assert.True(t, known, w.Name)
		assert.Equal(t, w.Metrics[0], m)
		assert.Equal(t, w.Title, w.Name.Workload().Title)
	}
	assert.Nil(t, results.WorkloadName("chess").Workload())
}

func TestDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Float64Range(0, 1e3), 1, 200).Draw(t, "sample")
		d := distribution(sample)
		require.Equal(t, len(sample), d.Count)
		require.Equal(t, slices.Min(sample), d.At(0))
		require.Equal(t, slices.Max(sample), d.At(1))
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		at := d.At(share)
		require.LessOrEqual(t, at, slices.Max(sample))
		require.GreaterOrEqual(t, at, slices.Min(sample))
		require.GreaterOrEqual(t, d.At(min(1, share+0.1)), at*(1-1e-12))
	})
	assert.Zero(t, distribution(nil).At(0.5))
}
