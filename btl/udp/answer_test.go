package udp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

// What the host answers to a frame as it arrives carries the acknowledgement of the frame's packets, however many there are: the sender's host gets the
// frame back with the answer. It may wait for both.
func TestAnAnswerAcknowledges(t *testing.T) {
	p := connected(t)
	p.recv[1].OnFrame = func(btltest.Frame) error {
		require.Equal(t, btl.Taken, p.ends[1].Send(frame("answer", ""), 0))
		return nil
	}
	for size := 1; size < 8000; size += 500 {
		answers := len(p.recv[0].Frames)
		f := frame("h", strings.Repeat("x", size))
		require.Equal(t, btl.Taken, p.ends[0].Send(f, 0))
		p.turn() // no time passes, so nothing comes that is held back
		require.Len(t, p.recv[0].Frames, answers+1, "%d bytes", size)
		require.Contains(t, p.recv[0].Freed, f, "%d bytes", size)
		p.settle()
	}
}
