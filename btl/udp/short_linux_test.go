package udp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// An interface that does not carry the shortest packets is left out at once, and where there is no other one the transport says so.
func TestInterfaceOfShortPackets(t *testing.T) {
	need.Root(t)
	h := btltest.NewHost(t, 0, 2, Component{})
	var alone error
	require.NoError(t, testnet.OnLoopback(68, func() error {
		_, alone = Component{}.Open(h)
		return nil
	}))
	var unavailable *btl.UnavailableError
	require.ErrorAs(t, alone, &unavailable)
	assert.Contains(t, unavailable.Reason, "127.0.0.1 (lo) carries packets of 68 bytes at most (its MTU), 540 are needed")

	m := h.Open().(*module)
	wide, narrow := m.Local.Interfaces[0], m.Local.Interfaces[0]
	narrow.Index = -1
	able, err := m.carrying(append(m.Local.Interfaces[:1:1], narrow), map[int]int{wide.Index: 1500, -1: 296})
	require.NoError(t, err)
	require.Len(t, able, 1)
	assert.Equal(t, wide.Prefix, able[0].Prefix)
	assert.Contains(t, strings.Join(h.Lines(), "\n"), "296 bytes at most")
}
