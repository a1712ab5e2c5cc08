package userstack

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is known of a way is forgotten after some time, and there is no more of it than there is room for.
func TestNarrowIsForgotten(t *testing.T) {
	var n narrow
	a := netip.MustParseAddr("fe80::1%one")
	assert.False(t, n.has(1, a))
	n.add(1, a)
	assert.True(t, n.has(1, a))
	assert.True(t, n.has(narrowFor, a.WithZone("")))
	assert.False(t, n.has(narrowFor+1, a))
	for i := range 5 * mostNarrow {
		a := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		n.add(int64(i)*narrowFor/100, a)
		assert.True(t, n.has(int64(i)*narrowFor/100, a))
		assert.LessOrEqual(t, len(n), mostNarrow)
	}
}
