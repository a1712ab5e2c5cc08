package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
