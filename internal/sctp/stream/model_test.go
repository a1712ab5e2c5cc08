package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/test/need"
)

// inbox is a receiver that puts the pieces of messages together, naively.
type inbox struct {
	t        testing.TB
	open     map[uint16][]byte
	messages map[uint16][]string // by stream, in the order in which they ended
	ppids    map[uint16][]uint32
	after    func() // called with each piece
}

func newInbox(t testing.TB) *inbox {
	return &inbox{t: t, open: map[uint16][]byte{}, messages: map[uint16][]string{}, ppids: map[uint16][]uint32{}}
}

func (b *inbox) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	b.open[stream] = append(b.open[stream], piece...)
	if end {
		b.messages[stream] = append(b.messages[stream], string(b.open[stream]))
		b.ppids[stream] = append(b.ppids[stream], ppid)
		b.open[stream] = nil
	}
	if b.after != nil {
		b.after()
	}
}

func (b *inbox) count() (n int) {
	for _, m := range b.messages {
		n += len(m)
	}
	return n
}

// message makes one whose bytes tell it from all others, in some pieces.
func message(r *rand.Rand, stream uint16, name, size int, unordered bool) *Message {
	text := []byte(fmt.Sprintf("%d/%d;", stream, name))
	for len(text) < size {
		text = append(text, byte(r.Uint32()))
	}
	m := &Message{Stream: stream, Unordered: unordered, PPID: uint32(name), Size: len(text)}
	for len(text) > 0 {
		n := 1 + r.IntN(len(text))
		m.Pieces = append(m.Pieces, text[:n])
		text = text[n:]
	}
	return m
}

// wire is a fragment as it arrives.
func wire(t testing.TB, f Fragment, tsn uint32, interleave bool) chunk.Data {
	var h chunk.Data
	f.Header(&h, tsn, interleave)
	b, start := chunk.BeginData(nil, &h)
	b = chunk.End(f.AppendTo(b), start)
	require.Len(t, b, f.Size(interleave))
	packet := append(chunk.AppendHeader(nil, chunk.Header{Source: 1, Destination: 2, Tag: 3}), b...)
	chunk.Seal(packet)
	_, chunks, err := chunk.Parse(packet, false)
	require.NoError(t, err)
	c, ok := chunks.Next()
	require.True(t, ok)
	d, err := chunk.ParseData(c)
	require.NoError(t, err)
	return d
}

// begin has all numbers begin just below where they wrap around.
func begin(o *Outgoing, in *Incoming, below uint32) {
	for i := range o.streams {
		n := -below
		if !o.interleave {
			n &= 0xffff
		}
		o.streams[i].ordered, o.streams[i].unordered, in.streams[i].next = n, n, n
	}
	o.scheduler.now -= 1 << 17
}

// Whatever is sent, and in whatever order the fragments arrive, each message is handed over once, as it was
// sent, and those of a stream that are ordered in their order.
func TestDeliveredIsWhatWasSent(t *testing.T) {
	for seed := range need.Seeds(t, 300, 100_000) {
		r := rand.New(rand.NewPCG(seed, 0x57AE))
		streams, interleave := 1+r.IntN(8), r.IntN(2) == 0
		o, err := NewOutgoing(Sending{
			Streams: streams, Interleave: interleave,
			Scheduler: []string{"", "fcfs", "rr", "prio", "fc", "wfq"}[r.IntN(6)],
			Places:    []uint16{uint16(r.IntN(3)), uint16(r.IntN(3)), uint16(r.IntN(1 << 16))}[:r.IntN(4)],
		})
		require.NoError(t, err)
		box := newInbox(t)
		in := NewIncoming(Receiving{Streams: streams, Interleave: interleave, Window: 1 << 20}, box)
		if r.IntN(2) == 0 {
			begin(o, in, uint32(r.IntN(20)))
		}
		full := 80 + r.IntN(2000)
		var sent []*Message
		var arriving []chunk.Data
		tsn := -uint32(r.IntN(100)) // it wraps around
		push, spread := 1+r.IntN(60), r.IntN(40)
		for len(sent) < push || o.Queued() > 0 {
			if len(sent) < push && r.IntN(2) == 0 {
				m := message(r, uint16(r.IntN(streams)), len(sent), 1+r.IntN(1<<r.IntN(14)), r.IntN(4) == 0)
				require.NoError(t, o.Push(m))
				sent = append(sent, m)
			}
			for room := full; ; {
				f, ok := o.Next(room, full)
				if !ok {
					break
				}
				room -= f.Size(interleave)
				arriving = append(arriving, wire(t, f, tsn, interleave))
				tsn++
			}
		}
		overtake(r, arriving, spread)
		for i := range arriving {
			taken, err := in.Add(&arriving[i], false)
			require.NoError(t, err, "seed %d", seed)
			require.True(t, taken)
		}
		compare(t, seed, sent, box)
		require.Empty(t, in.held, "seed %d", seed)
		require.Zero(t, in.Held())
	}
}

// overtake moves things by some places.
func overtake[T any](r *rand.Rand, all []T, spread int) {
	if spread == 0 {
		return
	}
	for i := range all {
		j := min(i+r.IntN(spread), len(all)-1)
		all[i], all[j] = all[j], all[i]
	}
}

// compare looks at each stream: all messages once, and the ordered ones in their order.
func compare(t *testing.T, seed uint64, sent []*Message, box *inbox) {
	t.Helper()
	require.Equal(t, len(sent), box.count(), "seed %d", seed)
	byText, ordered := map[string]*Message{}, map[uint16][]string{}
	for _, m := range sent {
		text := string(bytes.Join(m.Pieces, nil))
		byText[text] = m
		if !m.Unordered {
			ordered[m.Stream] = append(ordered[m.Stream], text)
		}
	}
	for stream, got := range box.messages {
		var inOrder []string
		for i, text := range got {
			m := byText[text]
			require.NotNil(t, m, "seed %d: nobody has sent this", seed)
			delete(byText, text)
			require.Equal(t, stream, m.Stream, "seed %d", seed)
			require.Equal(t, m.PPID, box.ppids[stream][i], "seed %d", seed)
			if !m.Unordered {
				inOrder = append(inOrder, text)
			}
		}
		require.Equal(t, len(ordered[stream]), len(inOrder), "seed %d", seed)
		for i := range inOrder {
			require.True(t, ordered[stream][i] == inOrder[i], "seed %d: stream %d, message %d", seed, stream, i)
		}
	}
}

// shares is how many bytes of so many fragments each stream gets. All whose messages have a size have as many
// as they like.
func shares(t *testing.T, c Sending, sizes []int, fragments int) []int {
	o, err := NewOutgoing(c)
	require.NoError(t, err)
	got := make([]int, len(sizes))
	fill := func() {
		for i, size := range sizes {
			for q := &o.streams[i]; size > 0 && (q.head == nil || q.head.next == nil); {
				if o.Push(&Message{Stream: uint16(i), Size: size}) != nil {
					t.FailNow()
				}
			}
		}
	}
	for range fragments {
		fill()
		f, ok := o.Next(1400, 1400)
		if !ok {
			t.FailNow()
		}
		got[f.Message.Stream] += int(f.Length)
	}
	return got
}

// Weights are shares of bytes, whatever the sizes of messages, with DATA and with I-DATA.
func TestWeights(t *testing.T) {
	for _, interleave := range []bool{false, true} {
		c := Sending{Streams: 3, Interleave: interleave, Scheduler: "wfq", Places: []uint16{1, 2, 5}}
		got := shares(t, c, []int{300, 9000, 1700}, 50_000)
		sum := got[0] + got[1] + got[2]
		for i, weight := range []int{1, 2, 5} {
			assert.InEpsilon(t, float64(weight)/8, float64(got[i])/float64(sum), 0.01, "%v, stream %d", interleave, i)
		}
		c.Scheduler = "fc"
		got = shares(t, c, []int{300, 9000, 1700}, 50_000)
		assert.InEpsilon(t, got[0], got[1], 0.01)
		assert.InEpsilon(t, got[0], got[2], 0.01)
	}
}

// With rr each stream sends as many messages, or as many fragments with I-DATA.
func TestTurns(t *testing.T) {
	got := shares(t, Sending{Streams: 2, Scheduler: "rr"}, []int{100, 10_000}, 9_000)
	assert.InEpsilon(t, 100.0, float64(got[1])/float64(got[0]), 0.01)
	got = shares(t, Sending{Streams: 2, Scheduler: "rr", Interleave: true}, []int{1380, 13800}, 9_000)
	assert.InEpsilon(t, 1.0, float64(got[1])/float64(got[0]), 0.01)
}

// With prio a higher place has all, at the next fragment with I-DATA, and after the message with DATA.
func TestPlaces(t *testing.T) {
	for _, interleave := range []bool{false, true} {
		c := Sending{Streams: 3, Interleave: interleave, Scheduler: "prio", Places: []uint16{0, 7, 3}}
		got := shares(t, c, []int{0, 5000, 5000}, 1000)
		assert.Zero(t, got[1])
		o, err := NewOutgoing(c)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		var order []uint16
		require.NoError(t, o.Push(message(r, 1, 1, 3000, false)))
		for i := range 5 {
			if i == 1 {
				require.NoError(t, o.Push(message(r, 0, 2, 500, false)))
			}
			if f, ok := o.Next(1400, 1400); ok {
				order = append(order, f.Message.Stream)
			}
		}
		want := []uint16{1, 1, 1, 0}
		if interleave {
			want = []uint16{1, 0, 1, 1}
		}
		assert.Equal(t, want, order)
	}
}

// A stream that has had nothing to send does not get it later.
func TestNothingIsSavedUp(t *testing.T) {
	for _, scheduler := range []string{"wfq", "fc"} {
		o, err := NewOutgoing(Sending{Streams: 2, Scheduler: scheduler, Interleave: true})
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		require.NoError(t, o.Push(message(r, 0, 0, 1<<22, false)))
		for range 1000 {
			o.Next(1400, 1400)
		}
		require.NoError(t, o.Push(message(r, 1, 1, 1<<22, false)))
		got := [2]int{}
		for range 1000 {
			f, _ := o.Next(1400, 1400)
			got[f.Message.Stream]++
		}
		assert.InDelta(t, 500, got[0], 2)
	}
}
