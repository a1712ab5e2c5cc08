package report_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

// extremes are numbers that a file may have and that plots could stumble over.
func extremes() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.SampledFrom([]float64{1e-12, 1e-9, 1, 1, 1e18}), rapid.Float64Range(1e-6, 1e6))
}

func orZero(g *rapid.Generator[float64]) *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Just(0.0), g)
}

// anyReport is one that Check lets pass, however odd.
func anyReport(t *rapid.T) *results.Report {
	m := newMaker(1, 1)
	m.r.Variants = m.r.Variants[:rapid.IntRange(1, 3).Draw(t, "variants")]
	for range rapid.IntRange(0, 4).Draw(t, "cells") {
		c := results.Cell{
			Workload: rapid.SampledFrom(results.Workloads).Draw(t, "workload").Name, Ranks: 2,
			Params: map[string]any{"size": rapid.OneOf(extremes(), rapid.SampledFrom([]float64{-1, 0, 30_000})).Draw(t, "size")},
		}
		if rapid.Bool().Draw(t, "emulated") {
			c.Link = lossy(rapid.SampledFrom([]float64{0, 0.01, 1e-300, 1}).Draw(t, "loss"))
			if rapid.Bool().Draw(t, "bursts") {
				c.Link.Loss = emulate.Bursts(0.01, 4)
			}
		}
		headline := c.Workload.Workload().Headline().Name
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			run := results.Run{
				Variant: rapid.SampledFrom(m.r.Variants).Draw(t, "variant").Name,
				Metrics: map[string]float64{headline: extremes().Draw(t, "value")},
			}
			if rapid.Bool().Draw(t, "more") {
				value := orZero(extremes()).Draw(t, "delay")
				run.Delays = []results.Distribution{distribution([]float64{value, 2 * min(value, 1), value})}
				run.Windows = []results.Window{{Samples: []results.WindowSample{{Bytes: orZero(extremes()).Draw(t, "window")}, {At: orZero(extremes()).Draw(t, "at"), Bytes: 1}}}}
				run.Network = &results.Network{Counters: emulate.Counters{Sent: rapid.Uint64().Draw(t, "sent"), Lost: 3}}
			}
			c.Runs = append(c.Runs, run)
		}
		m.r.Cells = append(m.r.Cells, c)
	}
	return m.r
}

// TestAnIntervalOfSixteenPowersOfTenIsDrawn keeps a case that TestWhateverCanBeReadCanBeDrawn
// found.
func TestAnIntervalOfSixteenPowersOfTenIsDrawn(t *testing.T) {
	m := newMaker(1, 1)
	for size, values := range map[float64][]float64{1: {1e-12, 16384.125, 16385}, 30_000: {0.5}} {
		c := results.Cell{Workload: results.Burst, Ranks: 2, Params: map[string]any{"size": size}}
		for _, value := range values {
			metrics := map[string]float64{results.Burst.Workload().Headline().Name: value}
			c.Runs = append(c.Runs, results.Run{Variant: m.r.Variants[0].Name, Metrics: metrics})
		}
		m.r.Cells = append(m.r.Cells, c)
	}
	require.NoError(t, report.WritePage(io.Discard, m.r, nil))
}

func TestWhateverCanBeReadCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, other := anyReport(t), anyReport(t)
		require.NoError(t, r.Check())
		require.NoError(t, report.WritePage(io.Discard, r, other))
		var b bytes.Buffer
		require.NoError(t, report.WriteTable(&b, r))
		require.NoError(t, report.WriteBaseline(&b, r, other))
		require.NotContains(t, b.String(), "NaN")
		require.NotContains(t, b.String(), "Inf")
	})
}
