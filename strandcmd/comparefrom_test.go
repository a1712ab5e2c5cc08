package strandcmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/machine"
)

// someResults puts results that nobody has measured into a folder: run times of two
// transports.
func someResults(t *testing.T, factor float64) string {
	t.Helper()
	r := &results.Report{
		Format: results.Format, Version: "synthetic", Command: []string{"strand", "compare"}, Started: time.Unix(1e9, 0), Finished: time.Unix(1e9+9, 0),
		Runs: 6, Machine: machine.Machine{OS: "linux", Arch: "amd64", Go: "go1.26"}, Links: results.Links{Kind: results.Loopback},
		Variants: []results.Variant{{Name: "tcp", BTL: "tcp"}, {Name: "sctp", BTL: "sctp"}},
		Cells:    []results.Cell{{Workload: results.Farm, Ranks: 4, Params: map[string]any{"size": 30000.0}}},
	}
	for round := range r.Runs {
		seconds := 1 + float64(round)/100
		r.Cells[0].Runs = append(r.Cells[0].Runs,
			results.Run{Variant: "tcp", Round: round, Metrics: map[string]float64{results.RunTime: seconds}},
			results.Run{Variant: "sctp", Round: round, Metrics: map[string]float64{results.RunTime: seconds * factor}})
	}
	dir := t.TempDir()
	require.NoError(t, results.Save(filepath.Join(dir, resultsFile), r))
	return dir
}

func TestCompareFromDrawsResultsAgain(t *testing.T) {
	dir := someResults(t, 0.5)
	for _, from := range []string{dir, filepath.Join(dir, resultsFile)} {
		stdout, stderr, status := command("compare --from " + from)
		require.Zero(t, status, stderr)
		assert.Contains(t, stdout, "sctp is better than tcp, its run time is round by round 50 % less; medians 51")
		assert.Contains(t, stdout, filepath.Join(dir, pageFile))
		page, err := os.ReadFile(filepath.Join(dir, pageFile))
		require.NoError(t, err)
		assert.Contains(t, string(page), "<svg")
		require.NoError(t, os.Remove(filepath.Join(dir, pageFile)))
	}
	other := filepath.Join(t.TempDir(), "new")
	stdout, stderr, status := command("compare --json --from " + dir + " --out " + other)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, `"format": 2`)
	assert.Contains(t, stdout, `"confidence": 0.`)
	stdout, stderr, status = command("compare --markdown --from " + dir)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "```\nstrand compare --seed 0\n```")
	assert.FileExists(t, filepath.Join(other, pageFile))
}

// Results are compared by any metric that they have.
func TestCompareByAnotherMetric(t *testing.T) {
	dir := someResults(t, 0.5)
	file := filepath.Join(dir, resultsFile)
	r, err := results.Load(file)
	require.NoError(t, err)
	for i := range r.Cells[0].Runs {
		r.Cells[0].Runs[i].Metrics[results.Throughput] = 1e6 * float64(i%2+1)
	}
	require.NoError(t, results.Save(file, r))
	stdout, stderr, status := command("compare --metric throughput --from " + dir)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "Farm: throughput in MB/s, more is better")
	assert.Contains(t, stdout, "sctp is better than tcp, its throughput is round by round 2.00 times that")
	stdout, stderr, status = command("compare --metric delay_p90 --from " + dir)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "Farm: run time", "the farm has no delays")
	_, stderr, status = command("compare --metric speed --from " + dir)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, `--metric: "speed": want some of`)
}

func TestCompareWithABaseline(t *testing.T) {
	now, then := someResults(t, 0.5), someResults(t, 1)
	stdout, stderr, status := command("compare --from " + now + " --baseline " + then)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "of 1 figures 1 are better, 0 worse, no change is seen in 0")
	page, err := os.ReadFile(filepath.Join(now, pageFile))
	require.NoError(t, err)
	assert.Contains(t, string(page), "What has changed")
}

func TestCompareWithABaselineInJSON(t *testing.T) {
	now := someResults(t, 0.5)
	stdout, stderr, status := command("compare --json --from " + now + " --baseline " + someResults(t, 1))
	require.Zero(t, status, stderr)
	var r results.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	verdicts := map[string]string{}
	for _, s := range r.Cells[0].Summaries {
		require.NotNil(t, s.Change)
		verdicts[s.Variant] = s.Change.Verdict
	}
	assert.Equal(t, map[string]string{"tcp": "control", "sctp": "better"}, verdicts)
	change := r.Cells[0].Summaries[1].Change
	assert.InDelta(t, 0.5, *change.Ratio, 1e-9)
	assert.InDelta(t, 1.025, change.Then, 1e-9)
	kept, err := os.ReadFile(filepath.Join(now, resultsFile))
	require.NoError(t, err)
	assert.NotContains(t, string(kept), `"change"`, "it is of no other comparison")
}

func TestCompareWithABaselineInMarkdown(t *testing.T) {
	stdout, stderr, status := command("compare --markdown --from " + someResults(t, 0.5) + " --baseline " + someResults(t, 1))
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "of 1 figures 1 are better, 0 worse, no change is seen in 0")
}

// The page of one comparison is not written beside the results of another.
func TestCompareFromKeepsOtherResults(t *testing.T) {
	from, other := someResults(t, 0.5), someResults(t, 1)
	_, stderr, status := command("compare --from " + from + " --out " + other)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "there are results already ("+filepath.Join(other, resultsFile)+"): give another folder, or --overwrite")
	assert.NoFileExists(t, filepath.Join(other, pageFile))
	for _, out := range []string{other + " --overwrite", from} {
		_, stderr, status = command("compare --from " + from + " --out " + out)
		assert.Zero(t, status, stderr)
	}
}

// The same holds if the results to draw have a name of their own.
func TestCompareFromBesideOtherResults(t *testing.T) {
	dir := someResults(t, 1)
	old := filepath.Join(dir, "old.json")
	require.NoError(t, os.Rename(filepath.Join(someResults(t, 0.5), resultsFile), old))
	_, stderr, status := command("compare --from " + old)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "there are results already")
	_, stderr, status = command("compare --from " + old + " --overwrite")
	assert.Zero(t, status, stderr)
}

// If the page can not be written, the table is shown all the same.
func TestCompareFromWhereNothingCanBeWritten(t *testing.T) {
	dir := someResults(t, 0.5)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, pageFile, "in the way"), 0o700))
	stdout, stderr, status := command("compare --from " + dir)
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, pageFile)
	assert.Contains(t, stdout, "sctp is better than tcp")
}

func TestCompareFromWhatIsNoResult(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte("{\n"), 0o600))
	for line, want := range map[string]string{
		"compare --from " + bad:     "--from: " + bad + ": is not the results.json of strand compare: line 2",
		"compare --from " + dir:     "--from: results of a comparison: open " + filepath.Join(dir, resultsFile),
		"compare --baseline " + bad: "--baseline: " + bad,
	} {
		_, stderr, status := command(line)
		assert.Equal(t, 1, status, line)
		assert.Contains(t, stderr, want)
	}
	_, stderr, status := command("compare --from " + dir + " --loss 1 --runs 3")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "--loss, --runs would change nothing")
}
