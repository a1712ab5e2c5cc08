package pml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// What a peer was promised beyond its first grant is there for others again when it
// fails or leaves: at once, but for what its messages take, and that when they go.
func TestCreditReturnsWhenAPeerIsGone(t *testing.T) {
	for _, state := range []rails.Stage{rails.Failed, rails.Closed} {
		pe, _, c := receiving(t)
		p := pe.pml
		p.tune.creditFirst, p.tune.creditMax, p.unpromised = 1<<16, 1<<20, 1<<20
		r := pe.rails[0]
		for range 3 {
			pe.starved(false)
		}
		for pe.grant.Outstanding() <= 1<<16 {
			n := pe.received.Next()
			require.NoError(t, r.Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n}), make([]byte, 1<<20)))
		}
		n := pe.received.Next()
		half, err := r.Begin(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n}), 1<<20)
		require.NoError(t, err)
		r.Drop(half)
		promised, taken := pe.grant.Promised(), pe.grant.Outstanding()
		require.EqualValues(t, 1<<20-(promised-1<<16), p.unpromised)
		pe.fail(state, errors.New("it is gone"))
		require.EqualValues(t, 1<<20-(taken-1<<16), p.unpromised)
		require.Equal(t, state == rails.Closed, len(pe.received.AllUnfinished()) > 0)
		for range n + 1 {
			op, err := c.irecv(make([]byte, 1<<20), nil, 1, AnyTag)
			require.NoError(t, err)
			require.True(t, op.done)
		}
		require.EqualValues(t, 1<<20, p.unpromised)
	}
}
