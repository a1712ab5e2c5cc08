package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/stats"
)

// What the file says of a cell is what the table says.
func TestSummaries(t *testing.T) {
	r := synthetic()
	report.Sum(r)
	ratios, windows := 0, 0
	for i := range r.Cells {
		cell := &r.Cells[i]
		require.NotEmpty(t, cell.Summaries)
		for _, s := range cell.Summaries {
			values := cell.Values(s.Variant, s.Metric)
			want := stats.Summarize(values)
			assert.Equal(t, len(values), s.Runs)
			assert.Equal(t, want.Median, s.Median)
			if s.Interval != nil {
				assert.Equal(t, want.Interval, stats.Interval{Low: s.Interval.Low, High: s.Interval.High, Level: s.Interval.Confidence})
			}
			if s.Variant == tcp {
				assert.Nil(t, s.Ratio, "nothing is compared with itself")
				continue
			}
			require.NotNil(t, s.Ratio)
			ratio := stats.ByRound(cell.Pairs(s.Variant, tcp, s.Metric))
			assert.Equal(t, ratio.Value, *s.Ratio)
			if s.RatioInterval != nil {
				ratios++
				assert.Equal(t, ratio.Interval, stats.Interval{Low: s.RatioInterval.Low, High: s.RatioInterval.High, Level: s.RatioInterval.Confidence})
			}
			if s.Window > 0 {
				windows++
			}
		}
	}
	assert.Positive(t, ratios)
	assert.Positive(t, windows)
	require.NoError(t, r.Check())
}

// Two runs are too few for an interval, and the file does not pretend to have one.
func TestSummariesOfTooFewRuns(t *testing.T) {
	r := synthetic()
	r.Cells = r.Cells[:1]
	var runs []results.Run
	for _, run := range r.Cells[0].Runs {
		if run.Round < 2 {
			runs = append(runs, run)
		}
	}
	r.Cells[0].Runs = runs
	report.Sum(r)
	for _, s := range r.Cells[0].Summaries {
		assert.Nil(t, s.Interval)
		assert.Nil(t, s.RatioInterval)
	}
}

// Where tables do not say which is better the file does not either, whatever the ratio and its interval are.
func TestSummariesHaveDoubts(t *testing.T) {
	r := synthetic()
	cell := &r.Cells[1]
	verdicts := func() map[string]string {
		report.Sum(r)
		all := map[string]string{}
		for _, s := range cell.Summaries {
			if s.Metric == results.RunTime {
				all[s.Variant] = s.Verdict
			}
		}
		return all
	}
	assert.Empty(t, verdicts()[tcp])
	assert.Equal(t, "better", verdicts()[sctp])
	for i := range cell.Runs {
		if run := &cell.Runs[i]; run.Variant == sctp {
			run.Network.LateMeanSeconds, run.Network.LateSeconds = 1, 1
		}
	}
	assert.Equal(t, "emulator late", verdicts()[sctp])
	cell.Runs[len(cell.Runs)-2].Error, cell.Runs[len(cell.Runs)-2].Metrics = "too late", nil
	assert.Equal(t, "runs failed", verdicts()[sctp])
}

func TestMarkdown(t *testing.T) {
	r := synthetic()
	var b, tables bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&b, r, nil))
	require.NoError(t, report.WriteTable(&tables, r))
	text := b.String()
	assert.Contains(t, text, "\n```\nstrand compare --btl ")
	assert.Contains(t, text, "- processor: 2 × Synthetic Processor\n")
	first, _, _ := strings.Cut(tables.String(), "\n\n")
	assert.Contains(t, text, "```\n"+first+"\n", "the tables are those of a terminal")
	columns := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			if columns == 0 {
				columns = strings.Count(line, "|")
			}
			assert.Equal(t, columns, strings.Count(line, "|"), line)
		}
	}
	assert.Equal(t, 11, columns, "nine columns, and one that says of what")
}
