package tcp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
)

// The host takes back the frames that wait, one of them half sent, and writes to their
// memory at once. The peer gets that frame as it was. Of the others it gets only those
// that the transport had copied. It gets all that is sent later.
func TestRecall(t *testing.T) {
	x, y := link(t, set(pSndbuf, "64K"), set(pRcvbuf, "64K"))
	y.n.engine.Lock() // it does not read
	x.n.engine.Lock()
	payload := func(i int) string { return strings.Repeat(string(rune('a'+i)), []int{200 << 10, 100}[i%2]) }
	all := make(map[string]string)
	next := 0
	some := func(int) *btl.Frame {
		f := frame(fmt.Sprint(next), payload(next)[:10], payload(next)[10:])
		all[fmt.Sprint(next)] = payload(next)
		next++
		return f
	}
	taken, done := fill(x, some)
	x.n.engine.Unlock() // which sends what is long
	x.n.engine.Lock()
	more, copied := fill(x, some)
	taken, done = append(taken, more...), done+copied
	for _, f := range x.released {
		taken = slices.DeleteFunc(taken, func(o *btl.Frame) bool { return o == f })
		done++
	}
	x.released = nil
	require.NotEmpty(t, taken)
	offers := x.writable
	copied = x.ep.Recall()
	require.Positive(t, copied)
	require.Less(t, copied, 200<<10)
	require.Zero(t, x.ep.Recall(), "nothing of the host's is left")
	for _, f := range taken {
		clear(f.Payload)
		clear(f.More[0])
	}
	x.n.engine.Unlock()
	y.n.engine.Unlock()
	x.n.until("room", func() bool { return x.writable > offers })
	require.Equal(t, btl.Done, x.send(frame("last", "words")))
	y.n.until("what is sent later", func() bool { return len(y.frames) > 0 && y.frames[len(y.frames)-1].header == "last" })
	long := 0
	for _, m := range y.frames[:len(y.frames)-1] {
		require.True(t, m.payload == all[m.header], "frame %s", m.header)
		if len(m.payload) > copyLimit {
			long++
		}
	}
	require.LessOrEqual(t, long, done+1)
	require.Empty(t, x.released, "they were given back")
}

// What is left after a recall is a well-formed stream, wherever in it the system had
// stopped.
func TestRecallProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLender(nil)
		var s sender
		s.init(nil, &l)
		s.fills = rapid.Bool().Draw(t, "fills")
		var want []byte // what is to be left
		type piece struct {
			bytes []byte
			long  bool
		}
		var pieces []piece
		for i := range rapid.IntRange(0, maxQueued).Draw(t, "frames") {
			small := bytes.Repeat([]byte{'s'}, rapid.IntRange(0, 50).Draw(t, "small"))
			copy(s.reserve(len(small)), small)
			f := frame(strings.Repeat("h", rapid.IntRange(1, 64).Draw(t, "header")),
				strings.Repeat(string(rune('a'+i)), rapid.IntRange(1, 300).Draw(t, "payload")), strings.Repeat("z", i))
			p := s.prefixOfLong(f)
			b := s.reserve(p.Head() + int(p.Trail))
			clear(p.PutHead(b, f.Header))
			whole := append(bytes.Clone(b[:p.Head()]), make([]byte, f.Size+int(p.Trail))...)
			f.CopyPayload(whole[p.Head():])
			s.enqueue(f, p)
			pieces = append(pieces, piece{small, false}, piece{whole, true})
		}
		last := bytes.Repeat([]byte{'e'}, rapid.IntRange(0, 50).Draw(t, "end"))
		copy(s.reserve(len(last)), last)
		pieces = append(pieces, piece{last, false})
		total := s.queued()
		sent := rapid.IntRange(0, total).Draw(t, "sent")
		s.sent(sent)
		at := 0
		for _, p := range pieces {
			from := min(max(sent-at, 0), len(p.bytes))
			if !p.long || from > 0 {
				want = append(want, p.bytes[from:]...)
			}
			at += len(p.bytes)
		}
		s.recall()
		require.Equal(t, len(want), s.queued())
		require.LessOrEqual(t, s.count, 1)
		stream := s.remainder()
		require.True(t, bytes.Equal(want, stream[:len(stream)-framing.PrefixSize]))
	})
}
