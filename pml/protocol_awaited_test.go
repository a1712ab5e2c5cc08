package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAwaited(t *testing.T) {
	var a awaited
	for range awaitedNeed {
		assert.False(t, a.guess())
		a.answered(true)
	}
	for range 3 {
		for range awaitedTrust {
			assert.True(t, a.guess())
		}
		assert.False(t, a.guess(), "asked again now and then")
		a.answered(true)
	}
	a.answered(false)
	for range awaitedNeed {
		assert.False(t, a.guess())
		a.answered(true)
	}
	assert.True(t, a.guess())
}

// Only over a single rail, and up to its own bound, is a long message presumed to be
// awaited.
func TestWhichMessagesArePresumedToBeAwaited(t *testing.T) {
	pe, _, _ := receiving(t)
	r := pe.rails[0]
	pe.pml.tune.eagerAwaited = 1 << 20
	r.attr.Ordered, r.attr.Reliable, r.attr.MaxFrame = true, true, 4<<20
	sendOf := func(size uint64) *operation {
		op := new(operation)
		op.size = size
		return op
	}
	for range awaitedNeed {
		pe.awaited.answered(true)
	}
	assert.True(t, pe.presumed(sendOf(1<<20), r))
	assert.False(t, pe.presumed(sendOf(1<<20+1), r))
	secondRail(pe)
	assert.False(t, pe.presumed(sendOf(1<<20), r), "rails share what is cut into pieces")
}
