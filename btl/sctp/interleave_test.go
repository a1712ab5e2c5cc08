package sctp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/engine"
)

// Linux does not number the pieces of messages as RFC 8260 says (TestKernelInterleaving of package interop): with kernels as peers
// the user stack does without I-DATA, and refuses it.
func TestNoInterleavingWithKernels(t *testing.T) {
	e, err := engine.New(engine.Options{})
	require.NoError(t, err)
	defer e.Close()
	e.Lock()
	defer e.Unlock()
	cfg := stack.Config{Loop: e, Local: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, Warn: func(netip.AddrPort, error) {},
		Tuning: stack.Tuning{Streams: 2, MaxMessage: 1 << 16, Outstanding: 1 << 20, MTU: 1400, LoopbackMTU: 1400, EncapPort: 9899}}
	for _, how := range []string{"auto", "off"} {
		s, err := openUser(config{interleave: how}, cfg, "")
		require.NoError(t, err, how)
		require.NoError(t, s.Close())
	}
	_, err = openUser(config{interleave: "on"}, cfg, "")
	var u *stack.UnsupportedError
	require.ErrorAs(t, err, &u)
	assert.Equal(t, "interleave", u.Parameter)
	assert.ErrorContains(t, err, "RFC 8260")
}
