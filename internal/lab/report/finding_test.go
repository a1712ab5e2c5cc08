package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

// pair is a report of two variants in one cell, with these run times.
func pair(first, second []float64) *results.Report {
	m := newMaker(1, max(len(first), len(second), 1))
	m.r.Variants = m.r.Variants[:2]
	c := m.cell(results.Farm, map[string]any{"size": 30_000.0}, 4, 0.01, 1)
	c.Runs = nil
	for _, v := range []struct {
		name  string
		times []float64
	}{{tcp, first}, {sctp, second}} {
		for i, seconds := range v.times {
			c.Runs = append(c.Runs, m.run(c, v.name, i, seconds))
		}
	}
	return m.r
}

// The sentences, by what is known.
func TestFindings(t *testing.T) {
	base := []float64{10, 11, 10.5, 10.2, 10.8, 10.5}
	for _, c := range []struct {
		name          string
		first, second []float64
		want          string
	}{
		{"better", base, []float64{5, 5.1, 5.2, 4.9, 5, 5}, "sctp(streams=10) is better than tcp, its run time is round by round 52 % less; medians 5.00 s against 10.5 s"},
		{"a little better", base, []float64{9.5, 9.6, 9.7, 9.8, 9.9, 9.7}, "its run time is round by round 8 % less; medians 9.70 s against 10.5 s"},
		{"much better", base, []float64{1, 1, 1, 1, 1, 1}, "its run time is round by round 1/10.5 of that; medians 1.00 s against 10.5 s"},
		{"worse", base, []float64{30, 31, 32, 33, 34, 32}, "sctp(streams=10) is worse than tcp, its run time is round by round 3.05 times that; medians 32.0 s against 10.5 s"},
		{"the same", base, []float64{10.1, 11.2, 10.4, 10.3, 10.6, 10.5}, "No difference between transports can be seen in 1 comparison (no difference seen in 1)."},
		{"better in every round", []float64{10, 5, 20, 40, 8, 13}, []float64{9, 4.5, 18, 36, 7, 12}, "its run time is round by round 10 % less; medians 10.5 s against 11.5 s"},
		{"five runs that do not overlap", base[:5], []float64{5, 5, 5, 5, 5}, "too few runs to tell in 1"},
		{"six runs, five rounds of both", base, []float64{5, 5, 5, 5, 5}, "too few runs to tell in 1"},
		{"a difference of a thousandth", []float64{10, 10.0001, 10.0002, 10.0003, 10, 10}, []float64{10.02, 10.0201, 10.0202, 10.0203, 10.02, 10.02}, "its run time is round by round 0.2 % more"},
		{"a steady one and a noisy one", []float64{10, 10, 10, 10, 10, 10}, []float64{3, 5, 9, 9.5, 30, 8}, "No difference between transports can be seen"},
		{"two runs", base[:2], []float64{1, 1}, "too few runs to tell in 1"},
		{"none", base, nil, "There is nothing to compare"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Contains(t, report.Finding(pair(c.first, c.second)), c.want)
		})
	}
	r := pair(base, nil)
	r.Finished, r.Cells = time.Time{}, nil
	assert.Empty(t, report.Finding(r), "nothing was run yet")
}

// One transport alone is beside nobody, and it has not failed.
func TestFindingOfOneTransport(t *testing.T) {
	r := pair([]float64{1, 1, 1, 1, 1, 1}, nil)
	r.Variants = r.Variants[:1]
	require.NoError(t, r.Check())
	assert.Equal(t, "There is nothing to compare: no other transport ran beside tcp.", report.Finding(r))
}

// Shares may be 0, to which nothing has a ratio. That is no lack of runs.
func TestFindingOfNothing(t *testing.T) {
	r := pair([]float64{1, 1, 1, 1, 1, 1}, []float64{1, 1, 1, 1, 1, 1})
	c := &r.Cells[0]
	c.Workload, r.By = results.HOL, []string{results.HeldUp}
	for i := range c.Runs {
		c.Runs[i].Metrics = map[string]float64{results.Delay99: 0.1, results.HeldUp: 0}
	}
	require.NoError(t, r.Check())
	assert.Equal(t, "There is nothing to compare: in each cell tcp or the other transport measured 0 in some round, and there is no ratio to that.", report.Finding(r))
}

// The largest of many differences is worth less than one by itself.
func TestFindingSaysWhatChanceWouldShow(t *testing.T) {
	r := pair([]float64{10, 11, 12, 10, 11, 12}, []float64{5, 6, 7, 5, 6, 7})
	assert.Contains(t, report.Finding(r), "seen in 1 comparison (better than tcp in 1; chance alone would show fewer than 1).")
	for loss := range 59 {
		c := r.Cells[0]
		c.Link = lossy(0.02 + float64(loss)/100)
		r.Cells = append(r.Cells, c)
	}
	assert.Contains(t, report.Finding(r), "seen in 60 comparisons (better than tcp in 60; chance alone would show about 2).")
}

// failRun adds a run that failed.
func failRun(r *results.Report, variant string) {
	c := &r.Cells[0]
	c.Runs = append(c.Runs, results.Run{Variant: variant, Round: 5, Error: "not over within --timeout 1m0s"})
}

// Runs that took too long are the slowest: what the others say is no verdict.
func TestNoVerdictWhereRunsFailed(t *testing.T) {
	for _, failed := range []string{tcp, sctp} {
		r := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5})
		require.Contains(t, report.Finding(r), "better")
		failRun(r, failed)
		finding := report.Finding(r)
		assert.NotContains(t, finding, "better")
		assert.Contains(t, finding, "runs failed in 1")
		var b bytes.Buffer
		require.NoError(t, report.WriteTable(&b, r))
		assert.Contains(t, b.String(), "runs failed")
		assert.Contains(t, page(t, r, nil), "Runs failed, so that nothing can be said of sctp(streams=10) and tcp: run time as far as it is known, medians 5.00 s against 10.5 s")
		b.Reset()
		require.NoError(t, report.WriteBaseline(&b, r, r))
		assert.Contains(t, b.String(), "runs failed in 1.")
	}
}

// Failures are counted where few runs are left, and where none is: then and now.
func TestFailuresAreCountedWhereLittleIsLeft(t *testing.T) {
	few := pair([]float64{10, 11, 10.5}, []float64{5, 5.1})
	failRun(few, sctp)
	assert.Contains(t, report.Finding(few), "runs failed in 1")

	then := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5})
	now := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, nil)
	failRun(now, sctp)
	var b bytes.Buffer
	for _, c := range []struct{ now, then *results.Report }{{now, then}, {then, now}} {
		b.Reset()
		require.NoError(t, report.WriteBaseline(&b, c.now, c.then))
		assert.Contains(t, b.String(), "of 1 figures 0 are better, 0 worse, no change is seen in 0, runs failed in 1.")
		assert.Regexp(t, `sctp\S* .*–`, b.String())
	}

	// Beside a cell that says something.
	other := now.Cells[0]
	other.Ranks = 5
	then.Cells = append(then.Cells, other)
	assert.Contains(t, report.Finding(then), "seen in 2 comparisons (better than tcp in 1, runs failed in 1;")
	assert.Contains(t, page(t, then, nil), "With ranks 5, runs failed, so that nothing can be said of sctp(streams=10) and tcp.")
}

// If the first variant can not run, the others are compared with the next one.
func TestFirstVariantThatCanNotRun(t *testing.T) {
	r := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5})
	r.Variants = append([]results.Variant{{Name: udp, BTL: udp, Unable: "there is none"}}, r.Variants...)
	assert.Contains(t, report.Finding(r), "sctp(streams=10) is better than tcp")
	report.Sum(r)
	for _, s := range r.Cells[0].Summaries {
		assert.Equal(t, s.Variant != tcp, s.Ratio != nil, s.Variant)
	}

	// One that could, but had no luck, is named.
	r = pair(nil, []float64{5, 5.1, 5.2, 4.9, 5, 5})
	failRun(r, tcp)
	assert.Equal(t, "There is nothing to compare: in no cell do both tcp and another transport have runs that succeeded.", report.Finding(r))
}

// Names and cells do not hold all that may differ.
func TestBaselineOfOtherSettings(t *testing.T) {
	now, then := synthetic(), synthetic()
	for i := range now.Variants[:3] {
		now.Variants[i].Facts[results.FactMTU] = "9000"
	}
	now.Variants[0].Params = map[string]string{"btl_tcp_congestion": "bbr"}
	var b bytes.Buffer
	require.NoError(t, report.WriteBaseline(&b, now, then))
	assert.Contains(t, b.String(), "Not the same then and now: btl_tcp_congestion (cubic, now bbr) of tcp, MTU (1500, now 9000) of tcp and sctp(streams=10) and sctp(streams=1).")
	assert.Contains(t, page(t, now, then), "btl_tcp_congestion (cubic, now bbr) of tcp")
}

// More is better for throughput.
func TestThroughputIsBetterIfThereIsMore(t *testing.T) {
	m := newMaker(1, 6)
	m.r.Variants = m.r.Variants[:2]
	m.cell(results.PingPong, map[string]any{"size": 30_000.0}, 2, 0.01, 0.1)
	assert.Contains(t, report.Finding(m.r), "sctp(streams=10) is better than tcp, its throughput is round by round 2")
}

func TestBaseline(t *testing.T) {
	now, then := synthetic(), synthetic()
	then.Started = then.Started.Add(-24 * time.Hour)
	then.Machine.CPU = "Older Processor"
	then.Cells = then.Cells[3:]
	for i := range then.Cells {
		for j := range then.Cells[i].Runs {
			run := &then.Cells[i].Runs[j]
			for name := range run.Metrics {
				run.Metrics[name] *= 1.5 // the machine's
				if run.Variant == sctp {
					run.Metrics[name] *= 2
				}
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteBaseline(&b, now, then))
	golden(t, "baseline.txt", b.Bytes())
}

// A machine that is busier today makes no transport worse. What has changed more than the
// control has is a change; without a control nothing is.
func TestBaselineTellsTheMachineFromTheTransports(t *testing.T) {
	slower := func(values []float64, factor float64) []float64 {
		out := slices.Clone(values)
		for i := range out {
			out[i] *= factor
		}
		return out
	}
	first, second := []float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5}
	then := pair(first, second)
	against := func(now *results.Report) string {
		var b bytes.Buffer
		require.NoError(t, report.WriteBaseline(&b, now, then))
		return b.String()
	}
	assert.Contains(t, against(pair(slower(first, 3), slower(second, 3))), "of 1 figures 0 are better, 0 worse, no change is seen in 1.")
	assert.Contains(t, against(pair(slower(first, 3), slower(second, 6))), "of 1 figures 0 are better, 1 worse, no change is seen in 0.")
	assert.Regexp(t, `tcp +10\.5 s +31\.5 s +3\.00 +– +control`, against(pair(slower(first, 3), second)))

	alone := pair(first, slower(second, 6))
	alone.Variants[0].Params = map[string]string{"btl_tcp_congestion": "bbr"}
	assert.Contains(t, against(alone), "no verdict, since nothing tells a change of the machine's from one of the transports. It takes a control that has not changed: tcp with the same parameters in both.")
	assert.NotContains(t, against(alone), "worse")
	older := pair(first, slower(second, 6))
	older.Format = 1
	assert.Contains(t, against(older), "no verdict, since the two did not measure the same (format 2, now 1).")
	assert.NotContains(t, against(older), "worse")
}

// Where frames were late beside the delay that was asked for, what was measured is the machine's.
func TestNoVerdictWhereTheEmulatorWasLate(t *testing.T) {
	const ms = 1e-3
	for _, c := range []struct {
		name       string
		mean, most float64 // of runs of tcp; the delay is 5 ms
		runs       int
		late       bool
	}{
		{"busy all the time", 56 * ms, 120 * ms, 6, true},
		{"busy in half of the rounds", 56 * ms, 120 * ms, 3, true},
		{"busy in two rounds of six", 56 * ms, 120 * ms, 2, false},
		{"quiet", 0.1 * ms, 1 * ms, 6, false},
		{"a few frames very late, which a run time hardly sees", 0.1 * ms, 6 * ms, 6, false},
		{"all a little late", 0.7 * ms, 0.9 * ms, 6, true},
		{"an older file", 0, 120 * ms, 6, true},
		{"an older file of a quiet machine", 0, 1 * ms, 6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5})
			for i := range c.runs {
				n := r.Cells[0].Runs[i].Network
				n.LateMeanSeconds, n.LateSeconds = c.mean, c.most
			}
			for i := c.runs; i < 12; i++ {
				n := r.Cells[0].Runs[i].Network
				n.LateMeanSeconds, n.LateSeconds = 0.02*ms, 0.2*ms
			}
			text := page(t, r, nil)
			var table bytes.Buffer
			require.NoError(t, report.WriteTable(&table, r))
			assert.Equal(t, c.late, strings.Contains(text, "The emulated network was late beside its delay in 1 of 1 cells"))
			assert.Equal(t, c.late, strings.Contains(table.String(), "frames late by "))
			assert.Equal(t, !c.late, strings.Contains(report.Finding(r), "is better than tcp"))
			assert.Equal(t, c.late, strings.Contains(report.Finding(r), "emulator late in 1"))
			var markdown bytes.Buffer
			require.NoError(t, report.WriteMarkdown(&markdown, r, r))
			assert.Contains(t, markdown.String(), "| late | late, 1 % |")
			assert.Equal(t, c.late, strings.Contains(markdown.String(), "the emulator was late in 1."))
		})
	}
}

// Where the machine lost frames of most runs by itself, what was measured is the machine's too.
func TestNoVerdictWhereTheMachineWasTooSlow(t *testing.T) {
	for spoilt, slow := range map[int]bool{0: false, 2: false, 3: true, 6: true} {
		r := pair([]float64{10, 11, 10.5, 10.2, 10.8, 10.5}, []float64{5, 5.1, 5.2, 4.9, 5, 5})
		n := 0
		for i := range r.Cells[0].Runs {
			if run := &r.Cells[0].Runs[i]; run.Variant == tcp && n < spoilt {
				run.Network.Spoilt = run.Network.Sent / 50
				n++
			}
		}
		assert.Equal(t, !slow, strings.Contains(report.Finding(r), "is better than tcp"), "%d runs", spoilt)
		assert.Equal(t, slow, strings.Contains(report.Finding(r), "machine too slow in 1"), "%d runs", spoilt)
		text := page(t, r, nil)
		assert.Equal(t, slow, strings.Contains(text, "The machine was too slow for the emulated network, so that nothing can be said of"), "%d runs", spoilt)
		assert.Equal(t, spoilt > 0, strings.Contains(text, "Where most runs did so there is no verdict"), "%d runs", spoilt)
		var markdown bytes.Buffer
		require.NoError(t, report.WriteMarkdown(&markdown, r, r))
		assert.Equal(t, slow, strings.Contains(markdown.String(), "the machine was too slow in 1."), "%d runs", spoilt)
	}
}

// A few frames that come late are what a 99th percentile consists of.
func TestNoVerdictOfTailsWhereFewFramesAreLate(t *testing.T) {
	m := newMaker(1, 6)
	m.r.Variants = m.r.Variants[:2]
	c := m.cell(results.HOL, map[string]any{"size": 2000.0}, 2, 0.01, 1)
	for i := range c.Runs {
		c.Runs[i].Network.LateMeanSeconds, c.Runs[i].Network.LateSeconds = 1e-4, 6e-3
	}
	assert.Contains(t, report.Finding(m.r), "emulator late in 1")
	m.r.By = []string{results.Delay50}
	assert.NotContains(t, report.Finding(m.r), "emulator late")
}

func TestThesisBesideOurs(t *testing.T) {
	text := page(t, synthetic(), nil)
	_, text, found := strings.Cut(text, `<section id="published">`)
	require.True(t, found)
	text, _, _ = strings.Cut(text, "</section>")
	for _, want := range []string{"Table 5.1, p. 56", "54,779 B/s", "1,924 B/s", "Figure 5.3 (b), p. 61", "4311 s", "sctp(streams=10) against tcp"} {
		assert.Contains(t, text, want)
	}
	assert.Contains(t, text, "ours: size 300 kB, fanout 1, ordering relaxed, tasks 1000, ranks 8, loss 2 %, delay 5ms, rate 1gbit")
	assert.NotContains(t, text, "Figure 5.4", "no cell of ours has a fanout of 10")

	m := newMaker(1, 3)
	m.cell(results.Farm, map[string]any{"size": 7.0, "fanout": 1.0, "ordering": "relaxed"}, 8, 0, 1)
	assert.NotContains(t, page(t, m.r, nil), `id="published"`)

	// Its workers took any task that was there.
	for _, ordering := range []string{"strict", "relaxed"} {
		m = newMaker(1, 3)
		m.cell(results.Farm, map[string]any{"size": 30_000.0, "fanout": 1.0, "tasks": 10.0, "ordering": ordering}, 8, 0.01, 1)
		assert.Equal(t, ordering == "relaxed", strings.Contains(page(t, m.r, nil), `id="published"`), ordering)
	}

	// The effect of streams is a figure of its own.
	m = newMaker(1, 3)
	m.r.Variants = m.r.Variants[1:3]
	m.cell(results.Farm, map[string]any{"size": 300.0 * 1024, "fanout": 10.0, "tasks": 10.0, "ordering": "relaxed"}, 8, 0.02, 1)
	text = page(t, m.r, nil)
	assert.Contains(t, text, "Figure 5.5 (b), p. 64")
	assert.Contains(t, text, "sctp(streams=10) against sctp(streams=1)")
	assert.Contains(t, text, "1942 s")
}

// The thesis's association had ten streams: what has another number, or does not say, is not
// set beside it.
func TestThesisHadTenStreams(t *testing.T) {
	for name, c := range map[string]struct {
		streams, lanes, found string
		beside                bool
	}{
		"asked for": {"10", "", "", true}, "found": {"", "", "10", true}, "more lanes": {"10", "20", "", true},
		"four": {"4", "", "", false}, "four found": {"", "", "4", false}, "few lanes": {"10", "4", "10", false}, "not known": {"", "", "", false},
	} {
		m := newMaker(1, 3)
		m.r.Variants = m.r.Variants[:2]
		m.cell(results.Farm, map[string]any{"size": 30_000.0, "fanout": 1.0, "tasks": 10.0, "ordering": "relaxed"}, 8, 0.01, 1)
		m.r.Variants[1].Params = map[string]string{"btl_sctp_streams": c.streams, "pml_lanes": c.lanes}
		m.r.Variants[1].Facts[results.FactStreams] = c.found
		assert.Equal(t, c.beside, strings.Contains(page(t, m.r, nil), "sctp(streams=10) against tcp"), name)
		m.r.Variants[0].Params = map[string]string{"btl_tcp_links": "10"}
		assert.NotContains(t, page(t, m.r, nil), "sctp(streams=10) against tcp", "its TCP had one connection")
	}
}
