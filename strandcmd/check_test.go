package strandcmd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunRefusesBadSettingsAtOnce(t *testing.T) {
	for _, tc := range []struct{ flags, says string }{
		{"-p btl_tcp_if_inclde=eth0", "btl_tcp_if_inclde (from -p): unknown; did you mean btl_tcp_if_include?"},
		{"--mca btl_tcp_if_inclde eth0", "btl_tcp_if_inclde (from --mca): unknown; did you mean btl_tcp_if_include?"},
		{"-p pml_lane=3", "did you mean pml_lanes?"},
		{"-p btl_tcp=3", "btl_tcp (from -p): unknown"},
		{"-p btl_tcp_sndbuf=much", `btl_tcp_sndbuf = "much" (from -p)`},
		{"-tcpconretries 0", `btl_tcp_connect_retries = "0" (from -tcpconretries)`},
		{"-p pml_lanes=2 -p pml_lanes=3", "contradicts"},
		{"--btl tcp,", `btl = "tcp," (from --btl): a name is missing`},
		{"--btl tcp,^self", "^ stands only at the start"},
		{"--mca btl ^", "^ excludes nothing"},
	} {
		stdout, stderr, status := command("run -n 2 " + tc.flags + " echo started")
		assert.Equal(t, 2, status, "%s: %s", tc.flags, stderr)
		assert.Contains(t, stderr, tc.says, tc.flags)
		assert.Empty(t, stdout, tc.flags)
	}
	_, stderr, _ := command("run -n 2 -p verbos=1 -p pml_lane=3 true")
	assert.Contains(t, stderr, "did you mean verbose?", "all mistakes are told")
	assert.Contains(t, stderr, "did you mean pml_lanes?", "all mistakes are told")
}

// Mistakes in the environment and in files are refused too: once, before any rank starts.
func TestRunRefusesABadEnvironmentAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("STRAND_BTL_TCP_IF_INCLDE", "eth0")
	t.Setenv("STRAND_BTL_UCP_ANYTHING", "at all")
	require.NoError(t, os.WriteFile("strand.conf", []byte("pml_lane = 3\nbtl_ucp_mtu = 9000\n"), 0o600))
	stdout, stderr, status := command("run -n 4 --env STRAND_PML_COPY_LIMIT=lots echo started")
	assert.Equal(t, 2, status)
	assert.Empty(t, stdout)
	for _, says := range []string{
		"btl_tcp_if_inclde (from the environment, STRAND_BTL_TCP_IF_INCLDE): unknown; did you mean btl_tcp_if_include?",
		"pml_lane (from strand.conf:1): unknown; did you mean pml_lanes?",
		`pml_copy_limit = "lots" (from the environment, STRAND_PML_COPY_LIMIT)`,
	} {
		assert.Equal(t, 1, strings.Count(stderr, says), stderr)
	}
	assert.NotContains(t, stderr, "ucp")
}

// An --env replaces a variable that is set, so only its value is checked.
func TestRunChecksWhatTheRanksWillSee(t *testing.T) {
	t.Setenv("STRAND_PML_LANES", "many")
	stdout, stderr, status := command("run -n 1 --env STRAND_PML_LANES=4 echo started")
	assert.Zero(t, status, stderr)
	assert.Equal(t, "started\n", stdout)
}

// What may belong to a transport of the program's own is for the program to judge.
func TestRunLeavesForeignTransportsToTheProgram(t *testing.T) {
	for _, flags := range []string{
		"--btl ucp,self", "--btl ^ucp",
		"-p btl_ucp_sndbuf=64K -p btl_ucp_anything=at_all",
		"--btl tcp,self -p btl_tcp_sndbuf=64K",
	} {
		stdout, stderr, status := command("run -n 1 " + flags + " echo started")
		assert.Zero(t, status, "%s: %s", flags, stderr)
		assert.Equal(t, "started\n", stdout, flags)
	}
}

// A rank refuses what nobody in its program knows.
func TestRanksRefuseWhatTheyDoNotKnow(t *testing.T) {
	self := strandProcess(t).Path
	for says, flags := range map[string][]string{
		`there is no transport "ucp"`: {"--btl", "ucp"},
		"btl_ucp_sndbuf (from -p)":    {"-p", "btl_ucp_sndbuf=64K"},
	} {
		args := append(append([]string{"run", "-n", "2"}, flags...), self, "bench", "pingpong", "--sizes", "8")
		out, err := strandProcess(t, args...).CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), says)
	}
}

// Of a variable that is there twice the last entry counts. How long that takes grows as the environment does: where each entry
// was held against each later one, ten thousand took a second.
func TestLastOfEach(t *testing.T) {
	assert.Equal(t, []string{"B=2", "A=3", "AB=4"}, lastOfEach([]string{"A=1", "B=2", "A=3", "AB=4"}))

	long := make([]string, 1000)
	for i := range long {
		long[i] = fmt.Sprintf("%s%d=x", strings.Repeat("LONG_", 10), i)
	}
	assert.Equal(t, long, lastOfEach(slices.Clone(long)))
	assert.Less(t, testing.AllocsPerRun(1, func() { lastOfEach(long) }), 10_000.0)
}
