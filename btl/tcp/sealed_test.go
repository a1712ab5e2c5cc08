package tcp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/tcp/internal/record"
)

// sealedLink is a connected pair of endpoints that encrypt, with keys that are renewed after
// so few records that every test sees it.
func sealedLink(t testing.TB, opts ...option) (x, y *peer) {
	t.Helper()
	const renewal = 5
	opts = append(opts, set(pEncrypt, "true"))
	a, b := newNode(t, 0, 2, opts...), newNode(t, 1, 2, opts...)
	for _, n := range []*node{a, b} {
		n.do(func() { n.mod.cfg.renewal = renewal })
	}
	x = a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
	y = b.accepted[0]
	require.NotNil(t, x.ep.sealed)
	require.NotNil(t, y.ep.sealed)
	return x, y
}

// Frames of all sizes, in both directions, with pieces of all sizes, while the peer reads and
// while it does not.
func TestSealedFrames(t *testing.T) {
	x, y := sealedLink(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	for _, side := range [][2]*peer{{x, y}, {y, x}} {
		from, to := side[0], side[1]
		to.n.engine.Lock() // it does not read
		from.n.engine.Lock()
		var sent []message
		taken, _ := fill(from, func(i int) *btl.Frame {
			n := []int{10, 6000, 0, 64 << 10, 3000, 300 << 10, 16384, 16385}[i%8]
			m := message{strings.Repeat("h", 1+i%btl.MaxHeader), strings.Repeat(string(rune('a'+i%26)), n)}
			sent = append(sent, m)
			return frame(m.header, m.payload[:n/2], m.payload[n/2:n/2+n/100], m.payload[n/2+n/100:])
		})
		sent = sent[:len(sent)-1] // the last was not taken
		require.Positive(t, from.ep.Queued())
		from.n.engine.Unlock()
		to.n.engine.Unlock()
		to.n.until("all frames", func() bool { return len(to.frames) == len(sent) })
		require.True(t, equalMessages(sent, to.frames))
		from.n.until("release and room", func() bool { return len(from.released) == len(taken) && from.writable > 0 })
		from.n.do(func() {
			require.Zero(t, from.ep.Queued())
			require.False(t, from.ep.sealed.out.Lent(), "nothing waits, and so nothing is lent")
		})
		to.n.do(func() { require.False(t, to.ep.sealed.in.Lent()) })
	}
	y.n.do(func() { require.Equal(t, x.ep.counters.BytesSent, y.ep.counters.BytesReceived) })
}

func equalMessages(a, b []message) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Frames that wait when the endpoint is closed are sent afterwards, with a goodbye behind them.
func TestSealedCloseWhileBusy(t *testing.T) {
	x, y := sealedLink(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
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
	require.True(t, y.frames[len(y.frames)-1].payload == strings.Repeat("x", len(buf)))
}

// If only one of two ranks encrypts, they do not connect. Both say which setting each has, and what
// to do. Neither tries again, and nothing is sent in the clear.
func TestSealedByOneOnly(t *testing.T) {
	for _, by := range []string{"who connects", "who is connected to"} {
		t.Run(by, func(t *testing.T) {
			settings := []string{"true", "false"}
			if by != "who connects" {
				settings = []string{"false", "true"}
			}
			a, b := newNode(t, 0, 2, set(pEncrypt, settings[0])), newNode(t, 1, 2, set(pEncrypt, settings[1]))
			x := a.reach(b)
			a.do(func() { require.Equal(t, btl.Busy, x.ep.Send(frame("h", "secret"), 0)) })
			a.until("the end", func() bool { return x.downs == 1 })
			said := fmt.Sprintf("rank 0 on host0 has btl_tcp_encrypt=%s and rank 1 on host1 has btl_tcp_encrypt=%s", settings[0], settings[1])
			require.ErrorContains(t, x.down, said)
			require.ErrorContains(t, x.down, "all ranks must have the same")
			var e *btl.ConnError
			require.ErrorAs(t, x.down, &e)
			require.True(t, e.Final)
			b.until("the warning", func() bool { return len(b.logged(btl.LogWarn)) > 0 })
			require.Contains(t, b.logged(btl.LogWarn)[0], said)
			b.do(func() { require.Empty(t, b.accepted) })
		})
	}
}

// A wire is two endpoints with a man in the middle, who passes on what he likes when he likes.
type wire struct {
	a, b     *peer
	from, to int // his ends
}

// newWire makes one; with records, if it is to be encrypted.
func newWire(t testing.TB, encrypt bool) *wire {
	w := new(wire)
	w.a, w.from = still(t)
	w.b, w.to = still(t)
	if encrypt {
		w.encrypt(t, 3)
	}
	return w
}

// encrypt has both ends begin records, whose keys are renewed after so many.
func (w *wire) encrypt(t testing.TB, renewal uint64) {
	key := bytes.Repeat([]byte{7}, record.SecretSize)
	for _, p := range []*peer{w.a, w.b} {
		out, err := record.NewWriter(bytes.Clone(key), renewal)
		require.NoError(t, err)
		in, err := record.NewReader(bytes.Clone(key), renewal)
		require.NoError(t, err)
		p.ep.sealed = &sealed{out: out, in: in, lender: &p.ep.m.buffers}
	}
}

func (w *wire) close() {
	unix.Close(w.from)
	unix.Close(w.to)
	_ = w.a.ep.Close()
	_ = w.b.ep.Close()
}

// read takes all that has been sent so far.
func (w *wire) read(t require.TestingT) []byte {
	b := make([]byte, 1<<20)
	n, err := unix.Read(w.from, b)
	require.NoError(t, err)
	return b[:n]
}

// deliver passes bytes on.
func (w *wire) deliver(t require.TestingT, b []byte) {
	for len(b) > 0 && w.b.downs == 0 {
		n, err := unix.Write(w.to, b[:min(len(b), 3000)])
		require.NoError(t, err)
		b = b[n:]
		for w.b.ep.Poll() {
		}
	}
}

// A man in the middle sees what is sent, and with encryption he does not.
func TestOnTheWire(t *testing.T) {
	const known = "attack at dawn, by the northern gate"
	for _, encrypt := range []bool{false, true} {
		w := newWire(t, encrypt)
		defer w.close()
		require.Equal(t, btl.Done, w.a.ep.Send(frame("header", known), 0))
		require.Equal(t, btl.Done, w.a.ep.Send(frame("header", strings.Repeat(known, 300)), 0))
		w.a.ep.Flush()
		seen := w.read(t)
		require.Equal(t, !encrypt, bytes.Contains(seen, []byte(known)))
		require.Equal(t, !encrypt, bytes.Contains(seen, []byte("header")))
		w.deliver(t, seen)
		require.Len(t, w.b.frames, 2)
		require.Equal(t, known, w.b.frames[0].payload)
	}
}

// If one bit is changed on the wire, the connection ends. What was sent before that bit arrives.
// Nothing arrives that was not sent, and nothing unverified ever stands in a landing place.
func TestChangedOnTheWire(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		w := newWire(outer, true)
		defer w.close()
		scratch := make([]byte, 100)
		var places [][]byte
		w.b.onBegin = func(h []byte, size int) *btl.Landing {
			l := new(btl.Landing)
			w.b.buffer = bytes.Repeat([]byte{'.'}, size)
			places = append(places, w.b.buffer)
			l.Set(size, w.b.buffer, nil, scratch)
			l.Owner = message{header: string(h)}
			return l
		}
		var sent []message
		for i, n := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 50), rapid.IntRange(5000, 20_000)), 1, 4).Draw(t, "frames") {
			m := message{fmt.Sprint("header", i), strings.Repeat(string(rune('a'+i)), n)}
			sent = append(sent, m)
			require.Equal(t, btl.Done, w.a.ep.Send(frame(m.header, m.payload), 0))
		}
		seen := w.read(t)
		bit := rapid.IntRange(0, 8*len(seen)-1).Draw(t, "bit")
		seen[bit/8] ^= 1 << (bit % 8)
		require.Equal(t, btl.Done, w.a.ep.Send(frame("more", strings.Repeat("more", 8<<10)), 0))
		w.deliver(t, append(seen, w.read(t)...)) // so that a record that claims to be longer is as long
		require.Equal(t, 1, w.b.downs)
		require.ErrorIs(t, w.b.down, record.ErrDamaged)
		require.ErrorContains(t, w.b.down, "no byte of it was delivered")
		require.Less(t, len(w.b.frames), len(sent)+1)
		require.True(t, equalMessages(sent[:len(w.b.frames)], w.b.frames))
		for i, p := range places {
			require.Empty(t, bytes.Trim(p, "."+string(p[:1])), "place %d has something that was not sent", i)
		}
	})
}

// Between renewals of its keys an encrypted connection allocates nothing, neither for short frames
// nor for long ones.
func TestSealedAllocatesNothing(t *testing.T) {
	w := newWire(t, false)
	w.encrypt(t, record.Renewal)
	defer w.close()
	const long = 60 << 10
	from, to := &sink{}, &sink{buf: make([]byte, long)}
	w.a.ep.Recv, w.b.ep.Recv = from, to
	w.b.ep.scanner.Start(to, long, (*ahead)(&w.b.ep.m.buffers)) // which has kept the first receiver
	passed := make([]byte, 1<<20)
	for _, size := range []int{8, 5000, long} {
		f := frame("header", strings.Repeat("x", size))
		sent := 0
		step := func() {
			f.Next, f.Progress = nil, 0
			if w.a.ep.Send(f, 0) == btl.Busy {
				t.Fatal("busy")
			}
			w.a.ep.Flush() // short ones are held back
			sent++
			n, err := unix.Read(w.from, passed)
			if err != nil {
				t.Fatal(err)
			}
			for b := passed[:n]; len(b) > 0; b = b[n:] {
				if n, err = unix.Write(w.to, b); err != nil {
					t.Fatal(err)
				}
				for w.b.ep.Poll() {
				}
			}
		}
		to.frames = 0
		step() // buffers are lent for the first time
		require.Zero(t, testing.AllocsPerRun(100, step), "frames of %d bytes", size)
		require.Equal(t, sent, to.frames)
	}
}
