package strandcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/results"
)

func TestCompareFlags(t *testing.T) {
	for line, want := range map[string]string{
		"compare --loss 120":                             `strand compare: --loss 120: loss "120": want 0% to 100%`,
		"compare --loss 100":                             "--loss 100: nothing would get through",
		"compare --loss 1,2,1":                           "--loss 1,2,1: 1 is there twice",
		"compare --loss 0,50 --burst-loss 0.5":           "want 1 or more",
		"compare --rate 0":                               "--rate 0: nothing would get through; want a rate such as 100mbit or 1gbit, or unlimited",
		"compare --rate 5":                               `--rate 5: rate "5" has no unit`,
		"compare --delay 5":                              "--delay 5: want a time with its unit",
		"compare --delay 2m":                             "of 0s to 1m0s",
		"compare --jitter 6ms":                           "jitter 6ms is more than the delay 5ms",
		"compare --reorder 101":                          `--reorder "101": want 0% to 100%`,
		"compare --queue 0":                              "--queue 0: want 1 or more frames",
		"compare --queue x":                              "--queue x: want 1 or more frames, such as 1000, or bytes with a unit, such as 256K",
		"compare --workload frm":                         `--workload: there is no workload "frm"; did you mean farm?`,
		"compare --btl tpc":                              `--btl: there is no transport "tpc"; did you mean tcp?`,
		"compare --btl tcp(links=2":                      "not closed",
		"compare --sizes 8,x":                            `--sizes "8,x": "x"`,
		"compare --sizes 4 --workload farm":              "messages of 4 bytes: want 8 to",
		"compare --fanout 0":                             "--fanout 0: want a whole number of 1 or more",
		"compare --tasks few":                            "--tasks few: want a whole number of 1 or more",
		"compare --ordering loose":                       "--ordering loose: want strict, relaxed or both",
		"compare --ranks 1":                              "--ranks 1: want 2 to 256",
		"compare --ranks 2 --workload burst":             "workload burst: 2 ranks: want at least 3",
		"compare --ranks 200 --sizes 60M --fanout 99":    "need about",
		"compare --emulation tc":                         `--emulation: "tc": want one of auto, netem, user`,
		"compare --runs 0":                               "--runs 0: want 1 to",
		"compare --mtu 100":                              "--mtu 100: want 576 to 65535",
		"compare --timeout 0s":                           "--timeout 0s: want a time above 0",
		"compare -p btl=tcp":                             "-p btl: what is compared is what --btl says",
		"compare -p pml_lane=4":                          "did you mean pml_lanes?",
		"compare --loopback --congestion pigeon":         `--congestion: congestion control "pigeon"`,
		"compare --loopback --buffers none":              "--buffers none: want a size such as 220K, or auto",
		"compare --host a":                               "--host: a alone: want two hosts or more",
		"compare --host a --host b --host a":             "--host: a is there twice",
		"compare --host a,b":                             "--host: a,b: want one host; for several, give --host several times",
		"compare --workload farm,hol,farm":               "--workload: farm: there twice with the same parameters",
		"compare --workload pingpong --sizes 8,8":        "strand compare: --sizes 8,8: 8 is there twice",
		"compare --sizes 4":                              "strand compare: --sizes 4: messages of 4 bytes: want 8 to",
		"compare --fanout 5000":                          "strand compare: --fanout 5000: want at most 4096",
		"compare --tasks 99999999999999999999":           "strand compare: --tasks 99999999999999999999: want at most 1073741824",
		"compare --workload pingpong --fanout 1,10":      "--fanout: nothing of --workload pingpong has such a parameter",
		"compare --workload hol --tasks 5":               "--tasks: nothing of --workload hol has such a parameter",
		"compare --reorder-by 2ms":                       "--reorder-by: no frames are held back without --reorder",
		"compare --loss 1/4,2/8 --burst-loss 2":          "--burst-loss: --loss 1/4,2/8 says of each loss how long its runs are",
		"compare --loss 60 --burst-loss 1.2":             "strand compare: --loss 60: so many frames can not be lost in runs of 1.2 on the average; want --burst-loss of 1.5 or more",
		"compare --loss 1 --burst-loss inf":              "want 1 or more",
		"compare --host a --host -oProxyCommand=x":       `--host: "-oProxyCommand=x": want the name or address of a host`,
		"compare --host a --host b:4":                    `--host: "b:4": want the name or address of a host; a name has no colon`,
		"compare --host a[1-2] --host b":                 "ranges such as a[1-3] are not expanded",
		"compare --host a --host b --loss 1 --delay 1ms": "--host: the network is as it is, and nothing emulates --delay, --loss",
		"compare --host a --host b --rsh=":               "--rsh: the value is empty",
		"compare --rsh rsh":                              "--rsh means something with --host only",
		"compare --loopback --delay 5ms --loss 1":        "--loopback: nothing emulates --delay there",
		"compare --json --markdown":                      "--json and --markdown exclude each other",
		"compare --json --markdown --from nowhere":       "--json and --markdown exclude each other",
		"compare --from=":                                "--from: the value is empty",
		"compare --tasks= --sizes=":                      "--tasks: the value is empty",
		"compare --buffers 99T":                          "want up to 1G, or auto",
		"compare --burst-loss x":                         "--burst-loss x: want a number",
		"compare --seed -1":                              "--seed -1: want a whole number of 0 or more, such as --seed 1",
		"compare --mtu x":                                "such as --mtu 1500",
		"compare --metric delay":                         `--metric: "delay": want some of throughput`,
		"compare --metric delay_p90,delay_p50":           "are both of hol: want one",
		"compare now":                                    `unexpected argument "now"`,
		"compare member":                                 "accepts 1 arg",
	} {
		_, stderr, status := command(line)
		assert.Equal(t, 2, status, "%s: %s", line, stderr)
		assert.Contains(t, stderr, want, line)
	}
}

// All mistakes are told at once.
func TestCompareTellsAllMistakes(t *testing.T) {
	_, stderr, _ := command("compare --loss 120 --rate 0 --workload frm --btl tpc")
	for _, flag := range []string{"--loss", "--rate", "--workload", "--btl"} {
		assert.Contains(t, stderr, flag)
	}
}

func TestCompareUnderALauncher(t *testing.T) {
	t.Setenv("PMI_FD", "3")
	_, stderr, status := command("compare")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "PMI_FD is set")
	assert.Contains(t, stderr, "strand compare --host")
}

func TestCompareLinks(t *testing.T) {
	f := &compareFlags{}
	f.declare(pflag.NewFlagSet("compare", pflag.ContinueOnError)) // for the defaults
	f.loss, f.delay, f.rate, f.burstLoss, f.queue = "0,1/2,2", "1ms,5ms", "100mbit,unlimited", 4, "256K"
	links, mistakes := f.links()
	require.Empty(t, mistakes)
	require.Len(t, links, 12)
	assert.Equal(t, []string{"0%", "1%/2", "2%/4"}, []string{links[0].Loss.String(), links[1].Loss.String(), links[2].Loss.String()})
	assert.Equal(t, "5ms", links[3].Delay.String())
	assert.Equal(t, "unlimited", links[6].Rate.String())
	assert.Equal(t, 256<<10, links[0].Queue.Bytes)
}

func TestCompareHelp(t *testing.T) {
	stdout, _, status := command("compare --help")
	assert.Zero(t, status)
	assert.Contains(t, stdout, "Examples:\n  strand compare")
	assert.NotContains(t, stdout, "member")
}

const smallComparison = "pingpong(size=1000,rounds=3,warmup=0)"

func TestCompareOverTheLoopback(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	args := []string{"compare", "--loopback", "--loss", "0,1", "--runs", "2", "--workload", smallComparison, "--out", dir}
	out, err := strandProcess(t, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "Ping-pong: throughput")
	assert.Contains(t, string(out), "can not run: needs an emulated network: asked for by --loopback")
	assert.Contains(t, string(out), "run 1 of 6")
	r, err := results.Load(filepath.Join(dir, resultsFile))
	require.NoError(t, err)
	assert.Equal(t, append([]string{"strand"}, args...), r.Command)
	assert.Len(t, r.Cells[0].Runs, 6)
	assert.NotNil(t, r.Cells[1].Runs, "a list without runs")

	out, err = strandProcess(t, args...).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "there are results already ("+filepath.Join(dir, resultsFile)+"): give another folder, or --overwrite")
	out, err = strandProcess(t, append(args, "--overwrite", "--json", "--btl", "tcp")...).Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"links": {`)
}

// Comparisons that begin in the same second have folders of their own.
func TestCompareFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	for range 5 {
		file, folder, err := (&compareFlags{}).file()
		require.NoError(t, err)
		defer folder.Close()
		assert.False(t, seen[file], file)
		assert.Regexp(t, `^compare-\d{8}-\d{6}(-\d)?/results\.json$`, file)
		assert.DirExists(t, filepath.Dir(file))
		seen[file] = true
	}
	_, err := newFolder("nosuch/compare")
	require.ErrorContains(t, err, "--out names another folder", "a working directory may belong to somebody else")
}

// If no run has succeeded, the command has failed.
func TestCompareWithoutAnyResult(t *testing.T) {
	dir := t.TempDir()
	out, err := strandProcess(t, "compare", "--loopback", "--loss", "1", "--runs", "1", "--workload", smallComparison, "--out", dir).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, string(out), "no run has succeeded")
	assert.FileExists(t, filepath.Join(dir, pageFile), "it says why")
}

// Of results that could not be saved nobody says that they are.
func TestCompareThatCanNotBeSaved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, resultsFile, "in the way"), 0o700))
	out, err := strandProcess(t, "compare", "--loopback", "--overwrite", "--loss", "0", "--workload", smallComparison, "--out", dir).CombinedOutput()
	require.Error(t, err)
	assert.NotContains(t, string(out), "All results are in")
	assert.Equal(t, 1, strings.Count(string(out), resultsFile), "told once, by the name that is known: %s", out)
	assert.Contains(t, string(out), "strand compare: write "+filepath.Join(dir, resultsFile)+": ")
}

// Older results stay as long as there is nothing to replace them by.
func TestCompareKeepsOlderResultsWhereNothingRuns(t *testing.T) {
	t.Parallel()
	dir := someResults(t, 1)
	file := filepath.Join(dir, resultsFile)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, args := range [][]string{{"--btl", "tcp(if_include=10.99.0.0/16)", "--loss", "0"}, {"--btl", "tcp", "--loss", "1"}} {
		args = append(args, "--loopback", "--overwrite", "--runs", "1", "--workload", smallComparison, "--out", dir)
		out, err := strandProcess(t, append([]string{"compare"}, args...)...).CombinedOutput()
		require.Error(t, err, "%s", out)
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after), "%s", out)
		assert.NoFileExists(t, filepath.Join(dir, pageFile))
	}
	out, err := strandProcess(t, "compare", "--loopback", "--overwrite", "--runs", "1", "--btl", "tcp", "--loss", "0", "--workload", smallComparison, "--out", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	r, err := results.Load(file)
	require.NoError(t, err)
	assert.Equal(t, results.PingPong, r.Cells[0].Workload)
}
