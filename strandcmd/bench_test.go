package strandcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/peers"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

func TestBenchFlags(t *testing.T) {
	for _, tc := range []struct {
		line   string
		status int
		stderr string
	}{
		{"bench pingpong --sizes 8,x", 2, `strand bench pingpong: --sizes "8,x": "x"`},
		{"bench pingpong --iters -1", 2, "--iters -1: want 1 or more"},
		{"bench pingpong --window 8", 2, "unknown flag: --window"},
		{"bench rate --window 0", 2, `--window "0": want 1 to 65536 messages, or several such as 1,16 or 1:256`},
		{"bench stream --window 16:1", 2, `--window "16:1": "16:1": the range ends below its start`},
		{"bench pairs --pairs 2,0", 2, `--pairs "2,0": want 1 to 64 pairs`},
		{"bench stream --pairs 2", 2, "unknown flag: --pairs"},
		{"bench pairs --against openmp", 2, "separated by commas; did you mean openmpi?"},
		{"bench peers --only tcp/steam", 2, "--only tcp/steam: want sm or tcp, or one of their tables"},
		{"bench peers --against opnmpi", 2, "did you mean openmpi?"},
		{"bench peers --rounds -1", 2, "--rounds -1: want 1 or more"},
		{"bench peers --limit -1s", 2, "--limit -1s: want a time above 0"},
		{"bench peers --out page", 2, "--out page: want a file .md"},
		{"bench peers --from a.json --resume", 2, "choose one of them"},
		{"bench peers --from a.json --rounds 3 --only tcp", 2, "--from draws what was measured: --rounds, --only would change nothing"},
		{"bench peers --from nosuch.json", 2, "--from: open nosuch.json: no such file"},
		{"bench peers --baseline nosuch.json", 2, "--baseline: open nosuch.json"},
		{"bench stream --sizes 8,0", 2, "--sizes 8,0: messages of 0 bytes have no bandwidth: want 1 byte or more"},
		{"bench burst --sizes 0", 2, "--sizes 0: messages of 0 bytes have no bandwidth"},
		{"bench coll --calls bcast,brodcast", 2, `--calls "brodcast": want one or more of barrier, bcast`},
		{"bench coll --calls allreduc", 2, `--calls "allreduc": want one or more of barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reducescatter, separated by commas; did you mean allreduce?`},
		{"bench coll --sizes 12", 2, "--sizes: 12 bytes: collective calls are measured with numbers of 8 bytes"},
		{"bench coll --ranks 1", 2, "--ranks 1: want at least 2"},
		{"bench coll --ranks 4:200", 2, `--ranks "4:200": want 1 to 128 ranks`},
		{"bench rate --cpuprofile x --against raw", 2, "--cpuprofile is of Strand's ranks alone"},
		{"bench coll --cpuprofile x", 2, "--cpuprofile is of one job: give one number of --ranks"},
		{"bench coll --against openmpi,raw", 2, "--against raw: it has no collective calls; compare them with openmpi or mpich"},
		{"bench pairs --pairs 65", 2, `--pairs "65": want 1 to 64 pairs, or several such as 1,16 or 1:64`},
		{"bench peer", 2, "did you mean peers?"},
		{"bench pair", 2, `unknown command "pair"; did you mean pairs?`},
		{"bench stream --against nobody", 2, `--against "nobody": want one or more of raw, raw-udp, openmpi, mpich`},
		{"bench stream --against raw --blocks 1", 2, "--blocks 1: want at least 4"},
		{"bench pingpong --against raw -p btl_tcp_sndbuff=1", 2, "did you mean btl_tcp_sndbuf?"},
		{"bench pingpong -p btl_tcp_sndbuff=1", 2, "did you mean btl_tcp_sndbuf?"},
		{"bench pingpong --pause 1s", 2, "unknown flag: --pause"},
		{"bench burst --pause 11s", 2, "--pause 11s: want 0s to 10s"},
		{"bench burst --pause 2", 2, "--pause 2: want a time with its unit"},
		{"bench pingpong 8", 2, `unexpected argument "8"`},
		{"bench tango", 2, `unknown command "tango"`},
		{"bench member", 2, "accepts 1 arg"},
	} {
		_, stderr, status := command(tc.line)
		assert.Equal(t, tc.status, status, "%s: %s", tc.line, stderr)
		assert.Contains(t, stderr, tc.stderr, tc.line)
	}
}

func TestBenchHelp(t *testing.T) {
	for _, line := range []string{"bench", "bench --help", "bench pingpong --help", "bench exchange --help", "bench stream --help", "bench rate --help", "bench burst --help", "bench pairs --help", "bench coll --help", "bench peers --help"} {
		stdout, stderr, status := command(line)
		assert.Zero(t, status, "%s: %s", line, stderr)
		assert.Contains(t, stdout, "Examples:\n  strand bench", line)
		assert.NotContains(t, stdout, "member", line)
	}
}

// betweenRanks is what the command says of the connection that it has measured on this host.
var betweenRanks = `# tcp 127\.0\.0\.1 \(lo\) → 127\.0\.0\.1:\d+(, congestion control (cubic|reno))?`

func init() {
	if runtime.GOOS == "linux" {
		betweenRanks = `# sm @strand-sm-\w+ → @strand-sm-\w+`
	}
}

// What there is no memory for is refused before anything starts.
func TestBenchRoom(t *testing.T) {
	_, known := machine.FreeMemory()
	need.That(t, known, "needs a kernel that says how much memory is free")
	for _, line := range []string{"bench coll --calls alltoall --ranks 2,128 --sizes 8,64M", "bench coll --calls gather --ranks 128 --sizes 1G --against openmpi"} {
		_, stderr, status := command(line)
		assert.Equal(t, 2, status, line)
		assert.Regexp(t, `of \d+ bytes on 128 ranks: (128|256) processes need about \d+ MB of memory: \d+ MB are free here; want fewer ranks or smaller --sizes`, stderr, line)
	}
}

// Started alone, the command is its own launcher.
func TestBenchStartsItself(t *testing.T) {
	out, err := strandProcess(t, "bench", "pingpong", "--sizes", "8,1K", "--iters", "5", "--warmup", "0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?s)^# Strand ping-pong.*\n8 +\d+\.\d\d +\d+\.\d\d\n1024 +\d+\.\d\d +\d+\.\d\d\n`+betweenRanks+`\n$`, string(out))

	out, err = strandProcess(t, "bench", "rate", "--iters", "5", "--window", "3", "--json").Output()
	require.NoError(t, err, "%s", out)
	var result benchRows
	require.NoError(t, json.Unmarshal(out, &result), "%s", out)
	require.Len(t, result.Rows, 1)
	assert.Equal(t, 3, result.Rows[0].Window)
	assert.Equal(t, 8, result.Rows[0].Size)
	require.NotEmpty(t, result.Connections)
	assert.Equal(t, 2, result.Connections[0].Ranks)
	assert.Regexp(t, "^(tcp|sm)", result.Connections[0].Module)
}

// Each rank writes a profile of its own.
func TestBenchProfile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rate")
	out, err := strandProcess(t, "bench", "rate", "--iters", "5", "--cpuprofile", name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, file := range []string{name + ".0", name + ".1"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(b, []byte("\x1f\x8b")), "a profile is packed by gzip")
	}

	out, err = strandProcess(t, "bench", "rate", "--cpuprofile", filepath.Join(name, "in", "vain")).CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "--cpuprofile: rank 0: open "+name+"/in/vain.0: no such file or directory")
}

// Pairs are a job for each number of them.
func TestBenchPairs(t *testing.T) {
	out, err := strandProcess(t, "bench", "pairs", "--pairs", "1,2", "--iters", "2", "--window", "1,3", "--sizes", "8", "--json").Output()
	require.NoError(t, err, "%s", out)
	var result benchRows
	require.NoError(t, json.Unmarshal(out, &result), "%s", out)
	require.Len(t, result.Rows, 4)
	for i, want := range []struct{ pairs, window int }{{1, 1}, {1, 3}, {2, 1}, {2, 3}} {
		row := result.Rows[i]
		assert.Equal(t, want, struct{ pairs, window int }{row.Pairs, row.Window})
		assert.Positive(t, row.Messages)
		assert.Positive(t, row.Processor)
	}
}

// Collective calls are measured by a job for each number of ranks.
func TestBenchColl(t *testing.T) {
	out, err := strandProcess(t, "bench", "coll", "--calls", "bcast,barrier", "--ranks", "2,3", "--iters", "2", "--sizes", "8,80", "--json").Output()
	require.NoError(t, err, "%s", out)
	var result benchRows
	require.NoError(t, json.Unmarshal(out, &result), "%s", out)
	require.Len(t, result.Rows, 6)
	assert.Equal(t, bench.Call("barrier"), result.Rows[2].Call)
	assert.Equal(t, 3, result.Rows[4].Ranks)
	assert.Equal(t, 80, result.Rows[4].Size)
	assert.Positive(t, result.Rows[4].Time)
	ranks := make(map[int]bool)
	for _, c := range result.Connections {
		ranks[c.Ranks] = true
	}
	assert.Equal(t, map[int]bool{2: true, 3: true}, ranks)
}

func TestBenchUnderALauncher(t *testing.T) {
	t.Parallel()
	self := strandProcess(t).Path
	out, err := strandProcess(t, "run", "-n", "2", "--btl", "tcp,self", self, "bench", "stream", "--sizes", "1K", "--iters", "2").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `1024 +64 +\d+\.\d\d +\d+\.\d\d\n# tcp .*\n$`, string(out))

	out, err = strandProcess(t, "run", "-n", "3", self, "bench", "pingpong").CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "measures between 2 ranks and this job has 3")

	out, err = strandProcess(t, "run", "-n", "2", self, "bench", "pingpong", "--against", "raw").CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "call strand bench without a launcher")
}

// What the others are kept to beside Strand's transports.
func TestBenchTransports(t *testing.T) {
	for _, tc := range []struct {
		against, btl, list string
		memory             bool
	}{
		{"raw,openmpi", "", "tcp,self", false},
		{"raw-udp", "", "tcp,self", false},
		{"openmpi,mpich", "", "^sctp,udp", true},
		{"openmpi", "tcp,self", "tcp,self", false},
		{"raw", "sm,self", "sm,self", true},
	} {
		r := &benchRun{against: strings.Split(tc.against, ",")}
		if tc.btl != "" {
			r.settings = []param.Setting{{Name: "btl", Text: tc.btl, Source: param.Source{Kind: param.Flag, Where: "--btl"}}}
		}
		params, err := resolve(r.settings)
		require.NoError(t, err)
		list, memory, err := r.transports(params)
		require.NoError(t, err)
		assert.Equal(t, tc.list, list, "%+v", tc)
		assert.Equal(t, tc.memory, memory, "%+v", tc)
	}
}

func TestBenchAgainst(t *testing.T) {
	t.Parallel()
	cmd := strandProcess(t, "bench", "pingpong", "--sizes", "8", "--iters", "3", "--blocks", "4", "--against", "raw", "--json")
	out, err := cmd.Output()
	var result bench.Result
	require.NoError(t, json.Unmarshal(out, &result), "%s", out)
	require.Len(t, result.Rows, 1)
	assert.Positive(t, result.Rows[0].Peers[0].Ratio)
	require.NotNil(t, result.Valid)
	assert.Equal(t, *result.Valid, err == nil, "the status says whether the run is valid")
}

// A comparison that is interrupted says so, whatever becomes of those it has started, and leaves nothing behind.
func TestBenchAgainstIsInterrupted(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "b-") // a short path, for sockets
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	cmd := strandProcess(t, "bench", "pingpong", "--sizes", "8", "--blocks", "100000", "--against", "raw")
	cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		jobs, err := filepath.Glob(filepath.Join(dir, "*", "job-*")) // those who talk
		return err == nil && len(jobs) > 0
	}, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM)) // not SIGINT, which what runs in a shell's background ignores
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit, said.String())
	assert.Equal(t, 128+int(syscall.SIGTERM), exit.ExitCode(), said.String())
	assert.Equal(t, "strand bench pingpong: ended by SIGTERM", strings.TrimSpace(said.String()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// Who is interrupted before there is a round is not told to go on with it.
func TestBenchPeersInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interruptError(syscall.SIGINT))
	for rounds, want := range []string{"ended by SIGINT", "ended by SIGINT after 1 of 9 rounds; --resume goes on"} {
		report := &peers.Report{Rounds: make([]peers.Round, rounds), Planned: 9}
		err := (&benchPeersRun{}).interrupted(ctx, report, context.Cause(ctx))
		assert.EqualError(t, err, want)
		assert.Equal(t, 130, exitStatus(err))
	}
}

// The command makes a page, and makes it again of its figures.
func TestBenchPeers(t *testing.T) {
	dir := t.TempDir()
	page, results := filepath.Join(dir, "Speed.md"), filepath.Join(dir, "speed", "results.json")
	out, _ := strandProcess(t, "bench", "peers", "--quick", "--only", "tcp/rate", "--rounds", "1", "--against", "raw", "--commit=c1", "--out", page).CombinedOutput()
	// Whether the machine was quiet is not the matter.
	assert.Contains(t, string(out), page+" is written")
	text, err := os.ReadFile(page)
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(text), "## tcp/rate: message rates")
	assert.Contains(t, string(text), "| Strand | c1 |")
	assert.Regexp(t, `\n\| 8 \| [\d.]+ \| [\d.]+ \| – \| – \| [\d.]+ / [\d.]+ / – / – \|\n`, string(text))

	again := filepath.Join(dir, "again.md")
	stdout, _, _ := command("bench peers --from " + results + " --baseline " + results + " --out " + again)
	assert.Contains(t, stdout, "c1 beside c1: 1 cells compared, 0 changed")
	remade, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(text), "speed/", "again/"), string(remade))

	_, stderr, status := command("bench peers --resume --only tcp/rate --commit=c2 --out " + page)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "--resume: the figures are of c1, this is c2")
}

// Two runs never write the figures of one page at a time: each would write over the other's rounds.
func TestBenchPeersWhereAnotherOneWrites(t *testing.T) {
	dir := t.TempDir()
	page, figures := filepath.Join(dir, "Page.md"), filepath.Join(dir, "old.json")
	require.NoError(t, os.WriteFile(figures, []byte(oneRound), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "page"), 0o700))
	folder, err := reserve(filepath.Join(dir, "page"), nil)
	require.NoError(t, err)
	for _, how := range []string{"--resume", "--from " + figures, "--rounds 1 --only tcp/rate --against raw"} {
		_, stderr, status := command("bench peers " + how + " --out " + page)
		assert.Equal(t, 2, status, how)
		assert.Contains(t, stderr, "--out "+page+": another strand bench peers writes its figures there: give another file", how)
	}
	require.NoError(t, folder.Close())
	stdout, _, _ := command("bench peers --from " + figures + " --out " + page)
	assert.Contains(t, stdout, page+" is written")
}

// oneRound are figures of a cell.
const oneRound = `{"format":1,"rounds":[{"seconds":1}],"tables":[{"transport":"tcp","name":"rate","rows":[{"workload":"rate","window":64,"size":8,"times":{"strand":[1]}}]}]}`

// Nobody says that a page is written that could not be.
func TestBenchPeersPageInTheWay(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("r.json", []byte(oneRound), 0o600))
	require.NoError(t, os.MkdirAll("page.md", 0o700))
	stdout, stderr, status := command("bench peers --from r.json --out page.md")
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, "page.md")
	assert.NotContains(t, stdout, "is written")
}

// The command on a page is one that a shell understands.
func TestBenchPeersCommandLine(t *testing.T) {
	before := os.Args
	defer func() { os.Args = before }()
	os.Args = []string{"strand", "bench", "peers", "--commit=a b", "--out", "my page.md", "--only", "tcp/rate"}
	assert.Equal(t, "strand bench peers --out 'my page.md' --only tcp/rate", commandLine())
}
