package sctp

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
)

// withheld loses every packet that has the text in it, until it is released.
type withheld struct {
	text     []byte
	seen     atomic.Int64 // the text
	released atomic.Bool
	other    []byte
	passed   atomic.Int64 // packets with the other text and without the first
}

func (w *withheld) pass(packet []byte) bool {
	if n := bytes.Count(packet, w.text); n > 0 {
		w.seen.Add(int64(n))
		return w.released.Load()
	}
	if bytes.Contains(packet, w.other) {
		w.passed.Add(1)
	}
	return true
}

const (
	messageA = "message A, whose packet is lost"
	messageB = "message B, which comes after it"
)

// lose makes rank 0 send message A on lane 0, and then message B on lane 1. Every
// packet of A is lost.
func lose(t *testing.T, streams string) (a, b *node, w *withheld) {
	a, b = newNode(t, 0, with(pStreams, streams)), newNode(t, 1, with(pStreams, streams))
	join(t, a, b)
	w = &withheld{text: []byte(messageA), other: []byte(messageB)}
	a.stack().Filter(w.pass)
	a.send(messageA, 0, b)
	await(t, "A to be lost", func() bool { return w.seen.Load() > 0 }, a, b)
	a.send(messageB, 1, b)
	return a, b, w
}

// With a stream for each lane B does not wait for A.
func TestNoHeadOfLineBlocking(t *testing.T) {
	leak.Check(t)
	a, b, w := lose(t, "10")
	await(t, "B, while A is lost", func() bool { return len(b.frames) > 0 }, a, b)
	require.Equal(t, []string{messageB}, b.frames)
	t.Logf("A's packet was lost %d times before B was there", w.seen.Load())
	w.released.Store(true)
	await(t, "A", func() bool { return len(b.frames) > 1 }, a, b)
	require.Equal(t, []string{messageB, messageA}, b.frames)
}

// A control frame of the message layer does not wait for A either: it overtakes on the
// control stream. With one stream for frames it can not.
func TestControlFramesOvertake(t *testing.T) {
	leak.Check(t)
	for _, c := range []struct {
		streams string
		stream  uint16
	}{{"10", controlStream}, {"1", 1}} {
		a, b := newNode(t, 0, with(pStreams, c.streams)), newNode(t, 1, with(pStreams, c.streams))
		join(t, a, b)
		// What is left of the handshake is on the control stream, and must not share a packet
		// with what is lost either.
		await(t, "the handshake to be acknowledged", func() bool { return a.ep.(*endpoint).link.assoc.Queued() == 0 }, a, b)
		w := &withheld{text: []byte(messageA)}
		var gone atomic.Uint64 // a bit for each lane of A
		const lanes = 10
		a.stack().Filter(func(packet []byte) bool {
			for lane := range lanes {
				if bytes.Contains(packet, []byte(onLane(lane))) {
					gone.Or(1 << lane)
				}
			}
			return w.pass(packet)
		})
		for lane := range lanes {
			a.send(onLane(lane), lane, b)
		}
		// All of them must be lost first, or B could share a packet with one that is lost later.
		await(t, "all of A to be lost", func() bool { return gone.Load() == 1<<lanes-1 }, a, b)
		require.Equal(t, c.stream, a.ep.(*endpoint).sender.stream(btl.ControlLane))
		a.send(messageB, btl.ControlLane, b)
		if c.stream == controlStream {
			await(t, "the control frame, while every other stream waits", func() bool { return len(b.frames) > 0 }, a, b)
			require.Equal(t, []string{messageB}, b.frames)
		}
		w.released.Store(true)
		await(t, "all", func() bool { return len(b.frames) > 10 }, a, b)
		if c.stream != controlStream {
			require.Equal(t, messageB, b.frames[10])
		}
	}
}

// onLane is A for a lane.
func onLane(lane int) string { return fmt.Sprintf("%s on lane %d.", messageA, lane) }

// With one stream B waits, though its packet has come.
func TestHeadOfLineBlockingWithOneStream(t *testing.T) {
	leak.Check(t)
	a, b, w := lose(t, "1")
	before := w.seen.Load()
	await(t, "B's packet to be sent and A's to be repeated", func() bool { return w.passed.Load() > 0 && w.seen.Load() > before }, a, b)
	require.Empty(t, b.frames)
	w.released.Store(true)
	await(t, "both", func() bool { return len(b.frames) > 1 }, a, b)
	require.Equal(t, []string{messageA, messageB}, b.frames)
}
