package sm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// After an empty look a poll hands over one frame, for which somebody may wait. As long as the peer is
// ahead further polls hand over several.
func TestFramesInARow(t *testing.T) {
	p := connect(t)
	for range 3 + inRow {
		require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	}
	require.True(t, p.ep[1].receive())
	require.Equal(t, 1, len(p.recv[1].Frames))
	require.True(t, p.ep[1].receive())
	require.Equal(t, 1+inRow, len(p.recv[1].Frames))
	require.True(t, p.ep[1].receive())
	require.Equal(t, 3+inRow, len(p.recv[1].Frames))

	require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	require.True(t, p.ep[1].receive())
	require.False(t, p.ep[1].receive())
	for range 2 {
		require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	}
	require.True(t, p.ep[1].receive())
	require.Equal(t, 5+inRow, len(p.recv[1].Frames), "one, after an empty look")
}

// sated is a receiver that has what it waits for, or not.
type sated bool

func (s *sated) Sated() bool { return bool(*s) }

// A receiver that has what it waits for gets no more in the same poll.
func TestWhoHasEnoughGetsNoMore(t *testing.T) {
	p := connect(t)
	enough := sated(false)
	p.ep[1].taker = &enough
	for range 6 {
		require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
	}
	require.True(t, p.ep[1].receive())
	enough = true
	for frames := 2; frames < 4; frames++ {
		require.True(t, p.ep[1].receive())
		require.Equal(t, frames, len(p.recv[1].Frames))
	}
	enough = false
	require.True(t, p.ep[1].receive())
	require.Equal(t, 6, len(p.recv[1].Frames))
}

// A long frame is the first of its poll: a frame before it may have ended a wait, and the program may
// post the receive for the long one.
func TestLongFramesComeFirst(t *testing.T) {
	p := connect(t)
	for range 2 {
		require.Equal(t, btl.Done, p.ep[0].Send(frame(8), 0))
		require.Equal(t, btl.Done, p.ep[0].Send(frame(3*wholeLimit), 0))
	}
	for i, frames := range []int{1, 3, 4} { // the short one behind a long one goes with it
		require.True(t, p.ep[1].receive())
		require.Equal(t, frames, len(p.recv[1].Frames))
		require.Equal(t, i, p.recv[1].Begun)
	}
}
