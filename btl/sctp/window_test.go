package sctp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/test/leak"
)

// If a peer has a small window, half-arrived frames, one on each stream, could fill it.
// Then there would never be room for the rest of any. So there are no more streams than
// the window bears.
func TestWindowFullOfHalfArrivedFrames(t *testing.T) {
	leak.Check(t)
	const lanes = 10
	a := newNode(t, 0, with(pMaxFrame, "256K"), with(pRcvbuf, "16M"), with(pOutstanding, "16M"))
	b := newNode(t, 1, with(pRcvbuf, "1M"))
	join(t, a, b)
	payload := strings.Repeat("x", a.mod.Attrs.MaxFrame)
	require.Greater(t, lanes*len(payload), 2<<20)
	for lane := range lanes {
		a.send(payload, lane, b)
	}
	await(t, "all frames", func() bool { return len(b.frames) == lanes }, a, b)
	require.Len(t, a.logged("no room for a half-arrived frame on each"), 1)
}

// However many streams are asked for, and of whatever length frames are, the window has
// room for one on each.
func TestWindowBearsAFrameOnEachStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &module{cfg: config{maxFrame: rapid.IntRange(leastFrame, 1<<20).Draw(t, "frame")}}
		window := rapid.IntRange(2<<20, 64<<20).Draw(t, "window")
		var s sender
		s.init(65534, 65534, 65534, m.bearable(window))
		require.LessOrEqual(t, (s.streams+1)*(prefixSize+maxHeader+m.cfg.maxFrame), max(window, 2*(prefixSize+maxHeader+1<<20)))
		require.Positive(t, s.streams)
	})
}

// The user stack has shorter frames where many streams share its window, then fewer
// streams.
func TestThousandsOfStreams(t *testing.T) {
	for _, streams := range []string{"10", "1000", "20000"} {
		a, b := newNode(t, 0, with(pStreams, streams), with(pScheduler, "prio"), with(pInterleave, "on")), newNode(t, 1, with(pStreams, streams))
		join(t, a, b)
		ep := a.ep.(*endpoint)
		frame := prefixSize + maxHeader + a.mod.Attrs.MaxFrame
		require.LessOrEqual(t, (ep.sender.streams+1)*frame, 4<<20, "%s streams", streams)
		require.GreaterOrEqual(t, 2*(ep.sender.streams+1)*frame, min(4<<20, 11*(64<<10)), "no less than is needed")
	}
}
