package pml

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/payload"
)

// What the user has set for a module is its limit; where nothing is set, a module that
// needs no repetition nor sorting sends more at once.
func TestEagerLimit(t *testing.T) {
	sure := btl.Attr{EagerLimit: 16 << 10, MaxFrame: 1 << 20, Reliable: true, Ordered: true}
	for name, c := range map[string]struct {
		change func(*btl.Attr)
		want   int
	}{
		"reliable and ordered": {func(*btl.Attr) {}, 256 << 10},
		"set by the user":      {func(a *btl.Attr) { a.EagerFixed = true }, 16 << 10},
		"lossy":                {func(a *btl.Attr) { a.Reliable = false }, 16 << 10},
		"confirms":             {func(a *btl.Attr) { a.Confirms = true }, 16 << 10},
		"short frames":         {func(a *btl.Attr) { a.MaxFrame = 4 << 10 }, 4 << 10},
	} {
		r := &rail{attr: sure}
		c.change(&r.attr)
		assert.Equal(t, c.want, r.eagerLimit(256<<10), name)
	}
}

// BsendOverhead covers what it stands for, and not much more.
func TestBsendOverheadIsWhatItTakes(t *testing.T) {
	takes := int(unsafe.Sizeof(operation{})+unsafe.Sizeof(txFrame{})) + payload.Takes(1)
	assert.LessOrEqual(t, takes, BsendOverhead)
	assert.GreaterOrEqual(t, 2*takes, BsendOverhead)
}

// What is charged for a buffered send is what it takes, at most half as much again as its
// message.
func TestBufferedCharge(t *testing.T) {
	for _, n := range []int{0, 1, 64, 65, 129, 1025, 1 << 20, 1<<20 + 1} {
		assert.LessOrEqual(t, bufferedCharge(payload.Takes(n)), int64(BsendOverhead+n+n/2), "%d bytes", n)
	}
}
