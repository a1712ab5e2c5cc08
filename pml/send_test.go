package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
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
		"local":                {func(a *btl.Attr) { a.Local = true }, 16 << 10},
		"short frames":         {func(a *btl.Attr) { a.MaxFrame = 4 << 10 }, 4 << 10},
	} {
		r := &rail{attr: sure}
		c.change(&r.attr)
		assert.Equal(t, c.want, r.eagerLimit(256<<10), name)
	}
}
