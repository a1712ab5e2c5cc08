package strandcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Which congestion control connections get is shown, with what the user wants. Linux
// always has reno.
func TestInfoShowsCongestionControl(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"info --btl tcp,self":                            "Congestion control of tcp: (cubic|reno)( within this machine, [a-z]+ to others)?\n",
		"info --btl tcp,self -p btl_tcp_congestion=reno": "Congestion control of tcp: reno\n",
	} {
		stdout, stderr, status := command(line)
		require.Zero(t, status, stderr)
		assert.Regexp(t, want, stdout)
	}
}
