package tcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/test/leak"
)

// link is a connected pair of endpoints.
func link(t testing.TB, opts ...option) (x, y *peer) {
	t.Helper()
	a, b := newNode(t, 0, 2, opts...), newNode(t, 1, 2, opts...)
	x = a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
	return x, b.accepted[0]
}

// A lone frame goes out at once in one call; those that follow without a poll
// in between share one more.
func TestBurstIsOneCall(t *testing.T) {
	x, y := link(t)
	const burst = 100
	x.n.do(func() {
		x.n.clock.stop()
		before := x.ep.counters.SendCalls
		for i := range burst {
			require.Equal(t, btl.Done, x.ep.Send(frame("h", fmt.Sprint(i)), 0))
			require.Equal(t, before+1, x.ep.counters.SendCalls)
		}
		require.Positive(t, x.ep.Queued())
	})
	y.n.until("all frames", func() bool { return len(y.frames) == burst })
	for i, m := range y.frames {
		require.Equal(t, fmt.Sprint(i), m.payload)
	}
	x.n.do(func() { require.LessOrEqual(t, x.ep.counters.SendCalls, uint64(4)) })
}

// So do frames of some KB, of which a lone one is sent from where it is.
func TestBurstOfLongerFramesSharesCalls(t *testing.T) {
	for _, size := range []int{copyLimit, 8 << 10, 16 << 10} {
		x, y := link(t)
		const burst = 24
		const calls = 1 + burst/3
		x.n.do(func() {
			x.n.clock.stop()
			before := x.ep.counters.SendCalls
			for i := range burst {
				f := frame("h", strings.Repeat(string(rune('a'+i)), size))
				require.Equal(t, btl.Done, x.ep.Send(f, 0))
			}
			x.ep.Flush()
			require.LessOrEqual(t, x.ep.counters.SendCalls-before, uint64(calls))
		})
		y.n.until("all frames", func() bool { return len(y.frames) == burst })
		for i, m := range y.frames {
			require.Equal(t, strings.Repeat(string(rune('a'+i)), size), m.payload)
		}
	}
}

// Longer frames of a burst go out when no other like the last would fit into a segment.
func TestBurstOfLongerFrames(t *testing.T) {
	for _, size := range []int{5 << 10, 12 << 10, 16 << 10, 20 << 10, 28 << 10, gatherNear - 1} {
		x, y := link(t)
		const frames = 40
		sent := []string{strings.Repeat("a", size)}
		x.n.do(func() {
			x.n.clock.stop()
			require.Equal(t, btl.Done, x.ep.Send(frame("h", sent[0]), 0), "it goes at once")
			calls, p := x.ep.counters.SendCalls, x.ep.sender.prefix(frame("h", sent[0]))
			for i := 1; i < frames; i++ {
				sent = append(sent, strings.Repeat(string(rune('a'+i%26)), size))
				require.Equal(t, btl.Done, x.ep.Send(frame("h", sent[i]), 0), "%d bytes", size)
				require.LessOrEqual(t, x.ep.Queued()+p.Size(), segment, "%d bytes", size)
				require.EqualValues(t, i/(segment/p.Size()), x.ep.counters.SendCalls-calls, "frame %d of %d bytes, %d wait", i, size, x.ep.Queued())
			}
			x.ep.Flush()
		})
		y.n.until("all frames", func() bool { return len(y.frames) == frames })
		for i, m := range y.frames {
			require.True(t, m.payload == sent[i], "frame %d of %d bytes", i, size)
		}
	}
}

// A burst goes out when flushAt bytes wait, or when it is asked to.
func TestFlush(t *testing.T) {
	x, _ := link(t)
	x.n.do(func() {
		x.n.clock.stop()
		payload := strings.Repeat("x", 1000)
		x.ep.Send(frame("h", payload), 0)
		before := x.ep.counters.SendCalls
		p := x.ep.sender.prefix(frame("h", payload))
		for x.ep.Queued()+p.Size() < flushAt {
			x.ep.Send(frame("h", payload), 0)
			require.Equal(t, before, x.ep.counters.SendCalls)
		}
		x.ep.Send(frame("h", payload), 0)
		require.Equal(t, before+1, x.ep.counters.SendCalls)
		require.Zero(t, x.ep.Queued())
		x.ep.Send(frame("h", payload), 0)
		x.ep.Flush()
		require.Zero(t, x.ep.Queued())
	})
}

// A frame for which there is no room behind what is held back is not refused: when that has gone
// out nothing would tell that there is room again.
func TestNoRoomBehindWhatIsHeldBack(t *testing.T) {
	for name, opts := range map[string][]option{"plain": nil, "encrypted": {set(pEncrypt, "true")}} {
		t.Run(name, func(t *testing.T) {
			x, y := link(t, opts...)
			var sent []string
			x.n.do(func() {
				x.n.clock.stop()
				send := func(size int) {
					sent = append(sent, strings.Repeat(string(rune('a'+len(sent))), size))
					require.Equal(t, btl.Done, x.ep.Send(frame("h", sent[len(sent)-1]), 0))
				}
				send(1) // which goes at once
				const head = framing.PrefixSize + 1
				most := flushAt - 1
				if x.ep.sender.fills {
					most = flushAt - 64
				}
				for x.ep.Queued() < most {
					send(min(most-x.ep.Queued(), 2048) - head)
				}
				require.Equal(t, most, x.ep.Queued())
				require.Less(t, outSize-most, head+gatherLimit-1)
				send(gatherLimit - 1)
			})
			y.n.until("all frames", func() bool { return len(y.frames) == len(sent) })
			for i, m := range y.frames {
				require.True(t, m.payload == sent[i], "frame %d", i)
			}
		})
	}
}

// A sender that computes between its frames, and never polls, has none of them held back.
func TestFramesWithPausesAreNotHeldBack(t *testing.T) {
	x, _ := link(t)
	x.n.do(func() {
		x.n.clock.stop()
		for range 100 {
			before := x.ep.counters.SendCalls
			require.Equal(t, btl.Done, x.ep.Send(frame("h", "lone"), 0))
			require.Equal(t, before+1, x.ep.counters.SendCalls)
			require.Zero(t, x.ep.Queued())
			x.n.clock.pass(10 * time.Microsecond)
		}
	})
}

// What has been held back goes with the first frame after a pause.
func TestPauseEndsABurst(t *testing.T) {
	x, y := link(t)
	const burst = 3
	x.n.do(func() {
		x.n.clock.stop()
		before := x.ep.counters.SendCalls
		for range burst {
			x.ep.Send(frame("h", "burst"), 0)
		}
		require.Equal(t, before+1, x.ep.counters.SendCalls)
		x.n.clock.pass(20 * time.Microsecond)
		x.ep.Send(frame("h", "after"), 0)
		require.Equal(t, before+2, x.ep.counters.SendCalls)
		require.Zero(t, x.ep.Queued())
	})
	y.n.until("all frames", func() bool { return len(y.frames) == burst+1 })
}

// fill sends until the endpoint is busy, with a peer that does not read.
func fill(p *peer, f func(i int) *btl.Frame) (taken []*btl.Frame, done int) {
	for i := 0; ; i++ {
		next := f(i)
		switch p.ep.Send(next, 0) {
		case btl.Busy:
			return taken, done
		case btl.Taken:
			taken = append(taken, next)
		case btl.Done:
			done++
		default:
			panic("broken")
		}
	}
}

func TestBusyReleasedWritable(t *testing.T) {
	for name, size := range map[string]int{"small": 1000, "long": 100 << 10, "mixed": 0} {
		t.Run(name, func(t *testing.T) {
			x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
			y.n.engine.Lock() // it does not read
			x.n.engine.Lock()
			var sent []string
			taken, _ := fill(x, func(i int) *btl.Frame {
				n := size
				if n == 0 {
					n = []int{10, 6000, 200, 64 << 10, 3000}[i%5]
				}
				payload := strings.Repeat(string(rune('a'+i%26)), n)
				sent = append(sent, payload)
				return frame("h", payload[:n/2], payload[n/2:])
			})
			sent = sent[:len(sent)-1] // the last was not taken
			require.LessOrEqual(t, len(taken), maxQueued)
			require.Empty(t, x.released)
			require.Equal(t, 1, x.writable, "that of the connection")
			x.n.engine.Unlock()
			y.n.engine.Unlock()
			y.n.until("all frames", func() bool { return len(y.frames) == len(sent) })
			for i, m := range y.frames {
				require.True(t, m.payload == sent[i], "frame %d", i)
			}
			x.n.until("release and room", func() bool { return len(x.released) == len(taken) && x.writable == 2 })
			require.True(t, equalFrames(taken, x.released))
			x.n.do(func() { require.Zero(t, x.ep.Queued()) })
		})
	}
}

func equalFrames(a, b []*btl.Frame) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// An up-call may send, on its own endpoint too, while frames are being released.
func TestSendWithinUpcalls(t *testing.T) {
	x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	const rounds = 200
	count := 0
	y.n.do(func() {
		y.onDeliver = func(m message) error {
			count++
			if count < rounds {
				// Whatever the answer, the peer's next frame shows that all is well.
				y.ep.Send(frame("h", strings.Repeat("y", count*97%9000)), 0)
			}
			return nil
		}
	})
	got := 0
	x.n.do(func() {
		x.onDeliver = func(m message) error {
			got++
			x.ep.Send(frame("h", strings.Repeat("x", got*89%9000)), 0)
			return nil
		}
	})
	x.send(frame("h", "start"))
	y.n.until("the rounds", func() bool { return count >= rounds })
}

func TestCloseWithinUpcalls(t *testing.T) {
	for _, where := range []string{"deliver", "end", "begin", "up", "released"} {
		t.Run(where, func(t *testing.T) {
			a, b := newNode(t, 0, 2), newNode(t, 1, 2)
			closed := false
			b.onAccept = func(p *peer) {
				shut := func() { closed = true; _ = p.ep.Close() }
				switch where {
				case "up":
					p.onUp = shut
				case "begin":
					p.onBegin = func(_ []byte, size int) *btl.Landing {
						shut()
						l := new(btl.Landing)
						l.Set(size, make([]byte, size), nil, nil)
						return l
					}
				default:
					p.onDeliver = func(message) error { shut(); return nil }
				}
			}
			p := a.reach(b)
			size := 10
			if where == "end" || where == "begin" || where == "released" {
				size = 1 << 20
			}
			a.do(func() {
				if where == "released" {
					p.onReleased = func() { _ = p.ep.Close() }
				}
			})
			p.send(frame("h", strings.Repeat("x", size)))
			if where != "up" {
				// More behind it, which nobody is to see.
				a.do(func() { p.ep.Send(frame("h", "more"), 0) })
			}
			b.until("the close", func() bool { return closed })
			if where != "released" {
				a.until("the goodbye", func() bool { return p.downs == 1 })
				require.ErrorIs(t, p.down, btl.ErrPeerClosed)
			}
			b.do(func() {
				q := b.accepted[0]
				require.Zero(t, q.downs+q.dropped)
				require.LessOrEqual(t, len(q.frames), 1)
			})
		})
	}
}

func TestGoodbyeAfterAllFrames(t *testing.T) {
	x, y := link(t)
	const frames = 50
	x.n.do(func() {
		for i := range frames {
			x.ep.Send(frame("h", strings.Repeat("x", i*100)), 0)
		}
		require.NoError(t, x.ep.Close())
		require.Equal(t, btl.Broken, x.ep.Send(frame("h"), 0))
		require.NoError(t, x.ep.Close())
	})
	y.n.until("the goodbye", func() bool { return y.downs == 1 })
	require.ErrorIs(t, y.down, btl.ErrPeerClosed)
	require.Len(t, y.frames, frames)
	require.Zero(t, x.downs)
	x.n.until("the end of the linger", func() bool { return len(x.n.mod.Wire.Leaving()) == 0 })
}

// Frames that were taken by reference go out after Close, from a copy.
func TestCloseWhileBusy(t *testing.T) {
	x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	y.n.engine.Lock()
	x.n.engine.Lock()
	buf := bytes.Repeat([]byte("x"), 100<<10)
	taken, done := fill(x, func(int) *btl.Frame { return &btl.Frame{Header: []byte("h"), Payload: buf, Size: len(buf)} })
	require.NotEmpty(t, taken)
	require.NoError(t, x.ep.Close())
	clear(buf) // it is the caller's again
	x.n.engine.Unlock()
	y.n.engine.Unlock()
	y.n.until("the goodbye", func() bool { return y.downs == 1 })
	require.ErrorIs(t, y.down, btl.ErrPeerClosed)
	require.Len(t, y.frames, len(taken)+done)
	require.Empty(t, x.released)
	last := y.frames[len(y.frames)-1].payload
	require.True(t, last == strings.Repeat("x", len(buf)))
}

// The peer's end is sudden: the frame under way is dropped, then Down.
func TestSuddenEnd(t *testing.T) {
	x, y := link(t)
	y.n.do(func() {
		// A frame of which only the half comes.
		b := make([]byte, framing.PrefixSize+1+50<<10)
		framing.Prefix{Payload: 100 << 10, Header: 1}.Put(b)
		b[framing.PrefixSize] = 'h'
		n, errno := y.ep.conn.Send(b)
		require.Zero(t, errno)
		require.Len(t, b, n)
	})
	x.n.until("the beginning", func() bool { return x.began == 1 })
	y.n.do(func() { rawio.ShutdownWrite(y.ep.conn.FD()) })
	x.n.until("the end", func() bool { return x.downs == 1 })
	require.Equal(t, 1, x.dropped)
	var e *btl.ConnError
	require.ErrorAs(t, x.down, &e)
	require.ErrorIs(t, e, errNoGoodbye)
	require.Equal(t, "receiving", e.Phase)
	require.Equal(t, "host1", e.PeerHost)
	require.Contains(t, e.Remedy, "rank 1 has probably ended")
	require.Contains(t, e.Local, "127.0.0.1 (lo")
	x.n.do(func() { require.Equal(t, btl.Broken, x.ep.Send(frame("h"), 0)) })
	x.n.do(func() { require.NoError(t, x.ep.Close()) })
}

// A rank that sends to a peer which has said goodbye learns of the goodbye, not of
// the reset that its own bytes have caused.
func TestSendAfterGoodbye(t *testing.T) {
	x, y := link(t)
	x.n.engine.Lock() // it does not read
	y.n.do(func() { _ = y.ep.Close() })
	y.n.do(func() {
		for _, l := range y.n.mod.Wire.Leaving() {
			y.n.mod.Wire.Left(l) // at once, so that what comes is answered with a reset
		}
	})
	var last btl.Result
	connection := []unix.PollFd{{Fd: int32(x.ep.conn.FD())}}
	for deadline := time.Now().Add(30 * time.Second); last != btl.Broken && time.Now().Before(deadline); {
		last = x.ep.Send(frame("h", strings.Repeat("x", 4000)), 0)
		// The reset may take a moment; once there is no room Send does not look any more.
		_, _ = unix.Poll(connection, 10)
	}
	require.Equal(t, btl.Broken, last)
	require.Zero(t, x.downs, "Send makes no up-call")
	x.n.engine.Unlock()
	x.n.until("the end", func() bool { return x.downs == 1 })
	require.ErrorIs(t, x.down, btl.ErrPeerClosed)
}

func TestRemedies(t *testing.T) {
	x, _ := link(t)
	for _, err := range []error{syscall.ECONNREFUSED, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.EMFILE, syscall.EPERM, syscall.ECONNRESET, syscall.EPIPE} {
		require.NotEmpty(t, x.ep.Error("", fmt.Errorf("wrapped: %w", err)).Remedy, err.Error())
	}
	require.Empty(t, x.ep.Error("", errors.New("anything else")).Remedy)
}

// Any mixture of frames arrives as it was sent, whatever the landing places look
// like and whichever of them are revoked on the way.
func TestMixtures(t *testing.T) {
	x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	scratch := make([]byte, 3000)
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(3000, 9000), rapid.IntRange(0, 300<<10)), 1, 20).Draw(rt, "sizes")
		piece := rapid.SampledFrom([]int{1 << 30, 10_000, 2048, 100}).Draw(rt, "landing pieces")
		room := rapid.SampledFrom([]int{1 << 30, 50_000, 0}).Draw(rt, "room")
		var places [][]byte
		y.n.do(func() {
			y.frames = nil
			y.onBegin = func(h []byte, size int) *btl.Landing {
				buf := make([]byte, size)
				places = append(places, buf)
				var pieces [][]byte
				for rest := buf[:min(size, room)]; len(rest) > 0; {
					n := min(piece, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				l := new(btl.Landing)
				l.Set(size, nil, pieces, scratch)
				l.Owner = message{header: string(h)}
				y.buffer = buf
				return l
			}
		})
		var want []message
		for i, n := range sizes {
			payload := strings.Repeat(string(rune('a'+i%26)), n)
			header := strings.Repeat("h", 1+i%btl.MaxHeader)
			want = append(want, message{header, payload})
			x.send(frame(header, payload[:n/3], payload[n/3:]))
		}
		y.n.until("all frames", func() bool { return len(y.frames) == len(want) })
		y.n.do(func() {
			for i, m := range y.frames {
				if m.header != want[i].header || len(m.payload) != len(want[i].payload) {
					rt.Fatalf("frame %d: header %q, %d bytes", i, m.header, len(m.payload))
				}
				if n := min(room, len(m.payload)); m.payload[:n] != want[i].payload[:n] {
					rt.Fatalf("frame %d of %d bytes is damaged", i, len(m.payload))
				}
			}
		})
	})
}

func TestNothingIsLeftBehind(t *testing.T) {
	leak.Check(t)
	for range 3 {
		x, y := link(t)
		x.send(frame("h", strings.Repeat("x", 100_000)))
		y.n.until("the frame", func() bool { return len(y.frames) == 1 })
		stranger(t, x.n)
		x.n.until("the stranger", func() bool { return x.n.mod.Wire.Count() == 1 })
		x.n.close()
		y.n.close()
	}
}

// Closing both modules at once takes no time worth mentioning and gives both the
// other's goodbye or their own close.
func TestModulesCloseWithoutWaiting(t *testing.T) {
	x, y := link(t)
	x.n.do(func() {
		x.ep.Send(frame("h", "last words"), 0)
		require.NoError(t, x.n.mod.Close())
		require.Empty(t, x.n.mod.Wire.Leaving())
		require.Equal(t, btl.Broken, x.ep.Send(frame("h"), 0))
		_, err := x.n.mod.Connect(btl.Peer{Rank: 1}, btl.Path{}, x)
		require.ErrorIs(t, err, btl.ErrClosed)
		require.NoError(t, x.n.mod.Close())
	})
	y.n.until("the goodbye", func() bool { return y.downs == 1 })
	require.ErrorIs(t, y.down, btl.ErrPeerClosed)
	require.Equal(t, []message{{"h", "last words"}}, y.frames)
	require.Zero(t, x.downs)
}

// A connection over which nothing can be sent ends, though the peer goes on to send.
func TestFailureWhileThePeerSends(t *testing.T) {
	const most = 10_000 // frames: more than any system keeps
	for name, opts := range map[string][]option{"in the clear": nil, "encrypted": {set(pEncrypt, "true")}} {
		t.Run(name, func(t *testing.T) {
			a, b := newNode(t, 0, 2, opts...), newNode(t, 1, 2, opts...)
			x := a.reach(b)
			x.connected()
			b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
			y, sent := b.accepted[0], 0
			payload := strings.Repeat("x", 8<<10)
			send := func() {
				b.do(func() {
					y.ep.Send(frame("h", payload), 0)
					y.ep.Flush()
				})
				sent++
			}
			x.onDeliver = func(message) error { // there is always more
				if sent < most {
					send()
				}
				return nil
			}
			a.do(func() {
				send()
				x.ep.broken(errors.New("no way"))
			})
			a.until("the end", func() bool { return x.downs == 1 })
			require.ErrorContains(t, x.down, "no way")
			require.Less(t, sent, most)
		})
	}
}
