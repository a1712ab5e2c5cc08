package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

var update = flag.Bool("update", false, "write what is drawn into testdata")

// golden compares with what was found to be good, and shows how to write it anew.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test ./internal/lab/report -update")
	assert.Equal(t, string(want), string(got), "if it is better than before: go test ./internal/lab/report -update")
}

func TestTable(t *testing.T) {
	r := synthetic()
	require.NoError(t, r.Check())
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, r))
	golden(t, "table.txt", b.Bytes())
}

// Of a comparison that has just begun.
func TestTableOfAComparisonThatRuns(t *testing.T) {
	r := synthetic()
	r.Finished = time.Time{}
	r.Cells = r.Cells[:3]
	r.Cells[0].Runs, r.Cells[1].Runs, r.Cells[2].Runs = r.Cells[0].Runs[:15], r.Cells[1].Runs[:4], nil
	r.Cells[2].Unable = "loss 2 %: nothing here can emulate it"
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, r))
	golden(t, "running.txt", b.Bytes())
}

func TestTableOfOneVariant(t *testing.T) {
	r := synthetic()
	r.Variants, r.Cells = r.Variants[:1], r.Cells[:1]
	var runs []results.Run
	for _, run := range r.Cells[0].Runs {
		if run.Variant == tcp {
			runs = append(runs, run)
		}
	}
	r.Cells[0].Runs = runs
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, r))
	assert.NotContains(t, b.String(), "ratio")
	assert.Contains(t, b.String(), "nothing to compare")
}

// Why a transport can not run is all that is said of it, so it is not cut short in the middle: what it
// says for itself comes last.
func TestWhyATransportCanNotRun(t *testing.T) {
	r := synthetic()
	r.Variants[3].Unable = "rank 0 can not reach rank 1 on host1: self: rank 1 is another process; only rank 0 is this one; " +
		"udp: its sockets are known within one network namespace, and rank 1 lives in another; let another transport serve it (--btl)"
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, r))
	assert.Contains(t, strings.Join(strings.Fields(b.String()), " "), "udp can not run: "+r.Variants[3].Unable)
	for _, text := range strings.Split(b.String(), "\n") {
		if strings.Contains(text, "rank 0 can not reach") || strings.Contains(text, "network namespace") {
			assert.LessOrEqual(t, utf8.RuneCountInString(text), 120)
		}
	}

	r.Variants[3].Unable = strings.Repeat("no end ", 1000)
	b.Reset()
	require.NoError(t, report.WriteTable(&b, r))
	assert.Less(t, strings.Count(b.String(), "no end"), 200)
}

// Where most runs were not over within the time limit, that is what is known of the run time.
func TestRunsThatWereNotOver(t *testing.T) {
	r := synthetic()
	cell := &r.Cells[0]
	require.Equal(t, results.Farm, cell.Workload)
	over := func(late int) string {
		for i := range cell.Runs {
			if run := &cell.Runs[i]; run.Variant == "tcp" && run.Error == "" && late > 0 {
				run.Error, run.Exceeded, run.Metrics, late = "too long", 180, nil, late-1
			}
		}
		require.NoError(t, r.Check())
		var b bytes.Buffer
		require.NoError(t, report.WriteTable(&b, r))
		return b.String()
	}
	few := len(cell.Of("tcp"))/2 - 1
	text := over(few)
	assert.NotContains(t, text, "> ")
	// These few were the longest ones, whatever the others were: the median of six lies between the third and the fourth.
	were := slices.Sorted(slices.Values(cell.Values("tcp", results.RunTime)))
	assert.Regexp(t, fmt.Sprintf(`tcp +4 +%.3f +1 +2 failed`, (were[2]+were[3])/2), text)
	report.Sum(r)
	assert.InDelta(t, (were[2]+were[3])/2, cell.Summaries[0].Median, 1e-9)
	assert.Nil(t, cell.Summaries[0].Interval)
	assert.False(t, cell.Summaries[0].MedianIsAbove)
	// Of half of them the median lies between one that was over and one that was not.
	text = over(1)
	report.Sum(r)
	assert.True(t, cell.Summaries[0].MedianIsAbove)
	sorted := slices.Sorted(slices.Values(cell.Values("tcp", results.RunTime)))
	require.Len(t, sorted, 3)
	assert.Contains(t, text, fmt.Sprintf("> %.1f ", (sorted[2]+180)/2))
	// One that crashed was none of either.
	for i := range cell.Runs {
		if run := &cell.Runs[i]; run.Variant == "tcp" && run.Metrics[results.RunTime] == sorted[0] {
			run.Error, run.Metrics = "crashed", nil
			break
		}
	}
	assert.Contains(t, over(0), "> 180")
}

// There the few that were over are the quickest. They are in no plot, no ratio and nothing beside, and neither are they what
// is set beside the thesis or another comparison.
func TestRunsThatWereOverAreNotShownForThoseThatWereNot(t *testing.T) {
	before, r := synthetic(), synthetic()
	cell := &r.Cells[0]
	over := false
	for i := range cell.Runs {
		run := &cell.Runs[i]
		switch {
		case run.Variant != "tcp":
		case !over:
			over, run.Metrics[results.RunTime] = true, 77.7
		default:
			run.Error, run.Exceeded, run.Metrics = "too long", 180, nil
		}
	}
	require.NoError(t, r.Check())

	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, r))
	_, farm, _ := strings.Cut(b.String(), "Farm:")
	farm, _, _ = strings.Cut(farm, "Head-of-line")
	assert.NotContains(t, farm, "77.7")
	assert.Regexp(t, `> 180 *5 failed`, farm)
	assert.Regexp(t, `sctp\(streams=10\) +6 +[0-9.]+ +[0-9.]+ – [0-9.]+ +runs failed`, farm)

	text := page(t, r, before)
	assert.NotContains(t, text, "77.7 s at", "a plot")
	_, published, _ := strings.Cut(text, `<section id="published">`)
	published, _, _ = strings.Cut(published, "</section>")
	assert.NotContains(t, published, "77.7")
	assert.Contains(t, published, "&gt; 180 s")
	assert.Contains(t, published, "runs failed")

	for _, reports := range [][2]*results.Report{{r, before}, {before, r}} {
		b.Reset()
		require.NoError(t, report.WriteBaseline(&b, reports[0], reports[1]))
		assert.NotContains(t, b.String(), "77.7")
		assert.Contains(t, b.String(), "> 180 s")
	}
}

// Of what a table has beside the run time, too, there is nothing.
func TestNothingBesideARunTimeThatIsNotKnown(t *testing.T) {
	m := newMaker(1, 6)
	cell := m.cell(results.NAS, map[string]any{"kernel": "cg", "class": "W"}, 4, 0, 1)
	for i := range cell.Runs {
		run := &cell.Runs[i]
		if run.Metrics[results.Operations] = 55.5e6; run.Variant == "tcp" && run.Round > 0 {
			run.Error, run.Exceeded, run.Metrics = "too long", 180, nil
		}
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, m.r))
	assert.Equal(t, 2, strings.Count(b.String(), "55.5"), b.String())
}

// Errors come from anywhere; they must not paint the terminal.
func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.WriteTable(&b, synthetic()))
	assert.NotContains(t, b.String(), "\x1b")
	assert.Contains(t, b.String(), "5 failed: rank 2: peer 1 failed �[31mconnection reset")
}

// Markdown is written to a terminal too, and what is quoted in it may have fences of its own.
func TestMarkdownIsHarmless(t *testing.T) {
	r := synthetic()
	r.Links.Why, r.Variants[3].Unable = "\x1b[2J", "\x1b[31m"
	r.Command = append(r.Command, "\x1b[2J\n````\nout of the fence")
	require.NoError(t, r.Check())
	var b bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&b, r, nil))
	assert.NotContains(t, b.String(), "\x1b")
	assert.Contains(t, b.String(), "\n`````\nstrand compare --btl")
	assert.Equal(t, 2, strings.Count(b.String(), "\n`````\n"))
}

func TestLiveRedrawsInPlace(t *testing.T) {
	r := synthetic()
	var b bytes.Buffer
	live := &report.Live{Out: &b, Width: 60, Height: 20}
	require.NoError(t, live.Draw(r, "half done"))
	first := b.String()
	lines := strings.Split(strings.TrimSuffix(first, "\n"), "\n")
	assert.LessOrEqual(t, len(lines), 19)
	for _, text := range lines {
		assert.Less(t, utf8.RuneCountInString(text), 60)
	}
	assert.Equal(t, "half done", lines[len(lines)-1])
	assert.NotContains(t, first, "\x1b")

	b.Reset()
	require.NoError(t, live.Draw(r, "done"))
	assert.True(t, strings.HasPrefix(b.String(), "\x1b[19A\r\x1b[J"), "%q", b.String()[:12])
	b.Reset()
	require.NoError(t, live.Clear())
	assert.Equal(t, "\x1b[19A\r\x1b[J", b.String())
	b.Reset()
	require.NoError(t, live.Clear())
	assert.Empty(t, b.String())
}

// However narrow the terminal is, no line takes two of it.
func TestLiveOnANarrowTerminal(t *testing.T) {
	for _, width := range []int{1, 2, 5} {
		var b bytes.Buffer
		require.NoError(t, (&report.Live{Out: &b, Width: width}).Draw(synthetic(), "half done"))
		for text := range strings.Lines(b.String()) {
			assert.Less(t, utf8.RuneCountInString(strings.TrimSuffix(text, "\n")), width)
		}
	}
}

func TestCellText(t *testing.T) {
	r := synthetic()
	assert.Equal(t, "farm, size 30 kB, loss 1 %", report.CellText(r, 1))
	assert.Equal(t, "burst", report.CellText(r, len(r.Cells)-1), "it is the only one")
}
