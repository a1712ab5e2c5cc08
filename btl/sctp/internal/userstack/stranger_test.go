package userstack

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// witness notes the end of its association.
type witness struct {
	stack.Handler
	down []error
}

func (w *witness) Down(err error) { w.down = append(w.down, err) }

// data is a packet with an empty message on a stream.
func data(tag uint32, stream uint16) []byte {
	b := newPacket(tag, chunkIData, 3)
	b = binary.BigEndian.AppendUint32(b, 77) // TSN
	b = binary.BigEndian.AppendUint16(b, stream)
	return seal(append(b, make([]byte, 11)...))
}

// Data counts for nothing before its checksum is known to be right: whoever has the
// tag wrong, or a cable that has a bit wrong, must not end an association.
func TestDamagedDataIsAsIfLost(t *testing.T) {
	s, so, sent := deaf(nil)
	a, w := s.newAssociation(so, stranger, false), &witness{}
	a.h, a.ours, a.theirs = w, *sampleOpening(), *sampleOpening()
	a.ours.tag = 9
	a.trusted = true
	s.byTag[9] = a

	b := data(9, 60000)
	b[len(b)-1] ^= 1
	s.arrived(so, stranger, b)
	require.Empty(t, w.down)
	require.False(t, a.beat.heard, "no sign of life")
	require.Empty(t, *sent)

	b[len(b)-1] ^= 1
	s.arrived(so, stranger, b)
	require.Len(t, w.down, 1)
	require.ErrorIs(t, w.down[0], errForm)
	require.NotEmpty(t, *sent, "it is told")
}

// Before it has proved itself a peer has one stream: each costs memory.
func TestUnprovedPeersHaveOneStream(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		s, so, _ := deaf(nil)
		a, w := s.newAssociation(so, stranger, false), &witness{}
		a.h, a.ours, a.theirs = w, *sampleOpening(), *sampleOpening()
		a.ours.tag = 9
		s.byTag[9] = a
		if trusted {
			a.Trust()
			require.Equal(t, 11, a.allowed())
			continue
		}
		s.arrived(so, stranger, data(9, 1))
		require.Len(t, w.down, 1)
		require.ErrorContains(t, w.down[0], "stream beyond the 1 that it may use")
	}
}
