package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// cleared are sends of these lengths, oldest first.
func cleared(q *opQueue, lengths ...uint64) (all []*operation) {
	for _, n := range lengths {
		op := &operation{}
		op.accept = n
		q.push(op)
		all = append(all, op)
	}
	return all
}

// cutsOf cuts so many pieces of 1, and says which send each is of.
func cutsOf(pe *peer, all []*operation, n int) (of []int) {
	for range n {
		op := pe.nextStream(&pe.streams)
		if op == nil {
			break
		}
		for i := range all {
			if all[i] == op {
				of = append(of, i)
			}
		}
		op.offset++
		pe.streams.wasCut(op)
	}
	return of
}

// Sends of one length end one after the other, so that the next ones of the program do not all begin together.
func TestOldestMessageGoesFirst(t *testing.T) {
	pe := &peer{}
	all := cleared(&pe.streams, 3, 3, 3)
	assert.Equal(t, []int{0, 0, 0, 1, 1, 1, 2, 2, 2}, cutsOf(pe, all, 100))
	assert.Nil(t, pe.streams.head)
}

// A short message has half of what goes from the moment when it comes, and the long one the other half, however many
// short ones come.
func TestShortMessagesAndALongOneTakeTurns(t *testing.T) {
	pe := &peer{}
	all := cleared(&pe.streams, 1000)
	assert.Equal(t, []int{0, 0, 0, 0}, cutsOf(pe, all, 4))
	all = append(all, cleared(&pe.streams, 3, 2)...)
	of := cutsOf(pe, all, 12)
	assert.Equal(t, 7, count(of, 0), "%v", of)
	assert.Less(t, last(of, 2), last(of, 1), "the shorter one ends first: %v", of)
	for i := 1; i < 10; i++ {
		assert.True(t, of[i] == 0 || of[i-1] == 0, "%v", of)
	}
}

// What can not be cut now, since copies are short, holds up nothing else.
func TestMessageThatIsPackedHoldsUpNone(t *testing.T) {
	pe := &peer{packed: packRoom}
	all := cleared(&pe.streams, 2, 5)
	all[0].packs = true
	assert.Equal(t, []int{1, 1, 1, 1, 1}, cutsOf(pe, all, 10))
	assert.True(t, pe.unpacking)
	pe.packed = 0
	assert.Equal(t, []int{0, 0}, cutsOf(pe, all, 10))
}

func count(all []int, what int) (n int) {
	for _, v := range all {
		if v == what {
			n++
		}
	}
	return n
}

func last(all []int, what int) (at int) {
	for i, v := range all {
		if v == what {
			at = i
		}
	}
	return at
}
