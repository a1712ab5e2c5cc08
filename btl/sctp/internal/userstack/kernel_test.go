package userstack

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/rawio"
)

// Packets that may be for a kernel go out as they are: joined ones make it break down if it is on this machine.
func TestNoSegmentationTowardsKernels(t *testing.T) {
	for _, port := range []int{0, 9899} {
		s := openAtTwo(t, port)
		for _, so := range s.sockets {
			if best := rawio.NewPackets(0).Way; port == 0 {
				assert.GreaterOrEqual(t, so.Packets.Way, best)
			} else {
				assert.LessOrEqual(t, so.Packets.Way, rawio.ManyCalls)
			}
		}
	}
}

// openAtTwo opens a stack at two addresses.
func openAtTwo(t *testing.T, encap int) *Stack {
	e, err := engine.New(engine.Options{})
	require.NoError(t, err)
	e.Lock()
	s, err := Open(stack.Config{Loop: e, Local: []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")},
		Warn:   func(netip.AddrPort, error) {},
		Tuning: stack.Tuning{Streams: 2, MaxMessage: 1 << 16, Outstanding: 1 << 20, MTU: 1400, LoopbackMTU: 1400, EncapPort: encap}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		e.Unlock()
		e.Close()
	})
	return s
}
