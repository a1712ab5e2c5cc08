package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/wire"
)

// A receive of values that its sender has otherwise ends with an error, whichever way it meets its message. All others go on.
func TestReceivesOfWhatTheSenderHasOtherwise(t *testing.T) {
	const n = 8
	for name, receive := range map[string]func(c *Context, as As, buf []byte, arrive func()) (*operation, error){
		"before its message": func(c *Context, as As, buf []byte, arrive func()) (*operation, error) {
			op, err := c.irecvOf(as, buf, nil, 1, 5)
			arrive()
			return op, err
		},
		"from any": func(c *Context, as As, buf []byte, arrive func()) (*operation, error) {
			op, err := c.irecvOf(as, buf, nil, AnySource, AnyTag)
			arrive()
			return op, err
		},
		"behind its message": func(c *Context, as As, buf []byte, arrive func()) (*operation, error) {
			arrive()
			return c.irecvOf(as, buf, nil, 1, 5)
		},
		"of a message that was probed": func(c *Context, as As, buf []byte, arrive func()) (*operation, error) {
			arrive()
			m := c.takeMessage(c.find(1, 5))
			return m.irecvOf(as, buf, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 100)
			pe.differs = representation.Order
			frame := uint32(0)
			for _, needs := range []representation.Traits{representation.Order, 0, representation.Order | representation.Words, representation.Words} {
				for _, room := range []int{n, n - 1} {
					op, err := receive(c, As{Needs: needs}, make([]byte, room), func() {
						h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: 5, Frame: frame, Seq: frame, LaneSeq: frame}
						require.NoError(t, pe.rails[0].Deliver(encoded(h), make([]byte, n)))
						frame++
					})
					require.NoError(t, err)
					require.True(t, op.done)
					switch {
					case needs&representation.Order != 0:
						assert.ErrorIs(t, op.err, ErrRepresentation)
						assert.ErrorContains(t, op.err, "rank 1 is big-endian")
					case room < n:
						assert.ErrorIs(t, op.err, ErrTruncated)
					default:
						assert.NoError(t, op.err)
					}
					pe.pml.freeOperation(op)
				}
			}
		})
	}
}
