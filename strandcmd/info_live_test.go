package strandcmd

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/pml"
)

func TestInfoLive(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	stdout, stderr, status := command("info --live")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "No job of this user is running on this host under strand run: ")
	for _, dir := range live.Dirs() {
		assert.Contains(t, stdout, dir)
	}

	report, err := json.Marshal(pml.Report{Stats: pml.Stats{Replayed: 17}, Rails: []pml.RailReport{
		{Peer: 1, Host: "node2", Module: "tcp", State: "FAILED", Desc: "10.0.0.1 (eth0) → 10.0.0.2:4711", Cause: "connection reset", Traffic: pml.Traffic{Sent: 12, BytesSent: 1 << 20}},
		{Peer: 2, Host: "node3", Module: "tcp", State: "CONNECTED", Desc: "10.0.1.1 (eth1) → 10.0.1.3:4711"},
		{Peer: 3, Host: "node4", Module: "sctp/kernel", State: "CONNECTED", Desc: "10.0.0.1 → 10.0.0.4", Paths: []btl.PathState{
			{Desc: "to 10.0.0.4", Up: true}, {Desc: "to 10.0.1.4", Since: time.Now().Add(-time.Hour)}}},
		{Peer: 4, Host: "node5", Module: "sctp/kernel", State: "CONNECTED", Desc: "10.0.0.1 → 10.0.0.5", Paths: []btl.PathState{{Up: true}, {Up: true}}},
	}})
	require.NoError(t, err)
	listener, err := live.Listen(live.Dir(), "strand_0123")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			live.Tell(conn, live.Job{Name: "strand_0123", PID: 4711, Program: "ring", Host: "node1", Size: 5, Started: time.Now()}, []live.Rank{
				{Rank: 0, PID: 5000, Report: report}, {Rank: 1, PID: 5001, Silent: "it is stopped"},
				{Rank: 2, PID: 5002, Report: []byte(`{}`)}, {Rank: 3, PID: 5003, Report: []byte(`7`)},
				{Rank: 4, Host: "node9", Silent: "is not started yet"},
			})
		}
	}()
	stdout, stderr, status = command("info --live")
	require.Zero(t, status, stderr)
	for _, line := range []string{
		"0 5000 1 node2 tcp FAILED 12 0 1M 0 17 10.0.0.1 (eth0) → 10.0.0.2:4711; connection reset",
		"0 5000 2 node3 tcp CONNECTED 0 0 0 0 17 10.0.1.1 (eth1) → 10.0.1.3:4711",
		"10.0.0.1 → 10.0.0.4; 2 paths, down: to 10.0.1.4 for 1h0m", "10.0.0.1 → 10.0.0.5; 2 paths, all up",
		"1 5001 it is stopped", "2 5002 has no connection yet", "3 5003 its report is not understood", "4 –@node9 is not started yet",
	} {
		assert.Contains(t, strings.Join(strings.Fields(stdout), " "), line)
	}
	assert.Regexp(t, `Job strand_0123: 5 ranks of ring on node1 for \d+s, launcher pid 4711`, stdout)
	stdout, stderr, status = command("info --live strand_01 --json")
	require.Zero(t, status, stderr)
	var answers []live.Answer
	require.NoError(t, json.Unmarshal([]byte(stdout), &answers))
	require.Len(t, answers, 1)
	assert.Len(t, answers[0].Ranks, 5)
	_, stderr, status = command("info --live strand_x")
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, "no job strand_x of this user is running")
	_, _, status = command("info --live one two")
	assert.Equal(t, 2, status)
	for _, args := range []string{"--param btl", "-p btl_tcp_links=2", "--level tuner", "--btl tcp,self --who-waits"} {
		_, stderr, status = command("info --live " + args)
		assert.Equal(t, 2, status, args)
		assert.Contains(t, stderr, "--live shows jobs that are running", args)
	}
}

// A job that is running can be asked, and is gone afterwards.
func TestInfoLiveOfARunningJob(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	cmd := strandProcess(t, "run", "-n", "2", "cat")
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		all, err := filepath.Glob(filepath.Join(live.Dir(), "[^.]*"))
		return err == nil && len(all) == 1
	}, time.Minute, time.Millisecond)
	stdout, stderr, status := command("info --live")
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "2 ranks of cat on ")
	assert.Contains(t, stdout, "does not answer within 1s: it is stopped, or does not use Strand")
	require.NoError(t, input.Close())
	require.NoError(t, cmd.Wait())
	stdout, _, _ = command("info --live")
	assert.Contains(t, stdout, "No job")
}

// In a batch job XDG_RUNTIME_DIR may name a folder that this host does not have. The job can be asked all the same, by whom else it
// is set otherwise.
func TestInfoLiveWithoutARuntimeDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", "/nowhere/user/7")
	cmd := strandProcess(t, "run", "-n", "1", "sh", "-c", "echo up; cat")
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, len("up\n")))
	require.NoError(t, err)
	for _, runtime := range []string{"/nowhere/user/7", "", t.TempDir()} {
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		stdout, stderr, status := command("info --live")
		assert.Zero(t, status, stderr)
		assert.Contains(t, stdout, "1 ranks of sh on ", runtime)
	}
	require.NoError(t, input.Close())
	require.NoError(t, cmd.Wait())
}

// Clocks of hosts differ, and are set: what is still to come there is not so long ago.
func TestInfoLiveByAnotherClock(t *testing.T) {
	var b strings.Builder
	now := time.Now()
	writeJob(&b, live.Job{Started: now.Add(time.Hour)}, now)
	assert.Contains(t, b.String(), " for 0s,")
	assert.Contains(t, describePaths([]btl.PathState{{Up: true}, {Desc: "a", Since: now.Add(time.Hour)}}, now), "down: a for 0s")
}
