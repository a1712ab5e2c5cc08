package stream

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// What can not be sent is refused.
func TestRefused(t *testing.T) {
	_, err := NewOutgoing(Sending{Streams: 1, Scheduler: "lottery"})
	require.ErrorContains(t, err, "lottery")
	o, err := NewOutgoing(Sending{Streams: 2})
	require.NoError(t, err)
	assert.ErrorIs(t, o.Push(&Message{Stream: 2, Size: 1}), ErrStream)
	assert.ErrorIs(t, o.Push(&Message{Stream: 1}), ErrSize)
	if long := uint64(math.MaxUint32 + 1); strconv.IntSize == 64 {
		assert.ErrorIs(t, o.Push(&Message{Stream: 1, Size: int(long)}), ErrSize)
	}
	_, ok := o.Next(1400, 1400)
	assert.False(t, ok)
}

// A message that fits a packet is not cut for the rest of another one, nor is a longer one for a few bytes.
func TestWorthAFragment(t *testing.T) {
	o, err := NewOutgoing(Sending{Streams: 1})
	require.NoError(t, err)
	text := make([]byte, 2000)
	require.NoError(t, o.Push(&Message{Size: 1000, Pieces: [][]byte{text[:1000]}}))
	require.NoError(t, o.Push(&Message{Size: 2000, Pieces: [][]byte{text}}))
	_, ok := o.Next(1015, 1400)
	require.False(t, ok)
	f, ok := o.Next(1016, 1400)
	require.True(t, ok)
	require.Equal(t, 1016, f.Size(false))
	_, ok = o.Next(16+leastFragment-1, 1400)
	require.False(t, ok)
	f, ok = o.Next(16+leastFragment+3, 1400)
	require.True(t, ok)
	require.EqualValues(t, leastFragment, f.Length, "a fragment takes no padding")
	f, ok = o.Next(1400, 1400)
	require.True(t, ok)
	require.EqualValues(t, 1384, f.Length)
	assert.Equal(t, 2000-leastFragment-1384, o.Queued())
	assert.False(t, f.Confirm())
}

// The last fragment that is confirmed confirms the message, in whatever order.
func TestConfirm(t *testing.T) {
	o, err := NewOutgoing(Sending{Streams: 1})
	require.NoError(t, err)
	require.NoError(t, o.Push(&Message{Size: 3000, Pieces: [][]byte{make([]byte, 3000)}}))
	a, _ := o.Next(1016, 1016)
	assert.False(t, a.Confirm(), "not all of it was cut")
	b, _ := o.Next(1016, 1016)
	c, _ := o.Next(1016, 1016)
	assert.False(t, c.Confirm())
	assert.True(t, b.Confirm())
}

// data makes a fragment.
func data(interleave bool, flags uint8, tsn, message, fragment uint32, text string) *chunk.Data {
	return &chunk.Data{Interleaved: interleave, Flags: flags, TSN: tsn, Stream: 1, Message: message, Fragment: fragment, Payload: []byte(text)}
}

const (
	whole = chunk.FlagBegin | chunk.FlagEnd
	first = chunk.FlagBegin
	last  = chunk.FlagEnd
	loose = chunk.FlagUnordered
)

// What breaks the rules is found, with the RFC's cause.
func TestViolations(t *testing.T) {
	for name, c := range map[string]struct {
		interleave bool
		all        []*chunk.Data
		cause      uint16
	}{
		"no payload":                     {false, []*chunk.Data{data(false, whole, 1, 0, 0, "")}, chunk.CauseNoUserData},
		"delivered before":               {false, []*chunk.Data{data(false, whole, 1, 0, 0, "a"), data(false, whole, 2, 0, 0, "a")}, chunk.CauseViolation},
		"held twice":                     {false, []*chunk.Data{data(false, whole, 1, 5, 0, "a"), data(false, whole, 2, 5, 0, "a")}, chunk.CauseViolation},
		"begins within another":          {false, []*chunk.Data{data(false, first, 1, 0, 0, "a"), data(false, whole, 2, 1, 0, "a")}, chunk.CauseViolation},
		"begins twice":                   {false, []*chunk.Data{data(false, first, 1, 0, 0, "a"), data(false, first, 3, 0, 0, "a")}, chunk.CauseViolation},
		"another goes on":                {false, []*chunk.Data{data(false, first, 1, 0, 0, "a"), data(false, 0, 2, 1, 0, "a")}, chunk.CauseViolation},
		"unordered within ordered":       {false, []*chunk.Data{data(false, first, 1, 0, 0, "a"), data(false, whole|loose, 2, 0, 0, "a")}, chunk.CauseViolation},
		"unordered within ordered, held": {false, []*chunk.Data{data(false, whole|loose, 3, 0, 0, "b"), data(false, first|loose, 5, 0, 0, "c"), data(false, first|loose, 6, 0, 0, "c")}, chunk.CauseViolation},
		"goes on behind its end":         {false, []*chunk.Data{data(false, 0, 2, 0, 0, "a"), data(false, whole, 1, 0, 0, "a")}, chunk.CauseViolation},
		"before its beginning":           {false, []*chunk.Data{data(false, first, 5, 0, 0, "a"), data(false, 0, 4, 0, 0, "a")}, chunk.CauseViolation},
		"goes on on another stream":      {false, []*chunk.Data{{Flags: last, TSN: 2, Stream: 0, Payload: []byte("b")}, data(false, first, 1, 0, 0, "a")}, chunk.CauseViolation},
		"I-DATA: delivered before":       {true, []*chunk.Data{data(true, whole, 1, 0, 0, "a"), data(true, whole, 2, 0, 0, "a")}, chunk.CauseViolation},
		"I-DATA: fragment before":        {true, []*chunk.Data{data(true, first, 1, 0, 0, "a"), data(true, 0, 2, 0, 1, "a"), data(true, 0, 3, 0, 1, "a")}, chunk.CauseViolation},
		"I-DATA: begins twice":           {true, []*chunk.Data{data(true, first, 1, 0, 0, "a"), data(true, first, 2, 0, 0, "a")}, chunk.CauseViolation},
		"I-DATA: held twice":             {true, []*chunk.Data{data(true, 0, 1, 7, 9, "a"), data(true, 0, 2, 7, 9, "a")}, chunk.CauseViolation},
		"I-DATA: behind its end":         {true, []*chunk.Data{data(true, last, 1, 0, 1, "a"), data(true, whole, 2, 0, 0, "a")}, chunk.CauseViolation},
		"I-DATA: 0 that is not first":    {true, []*chunk.Data{data(true, 0, 1, 0, 0, "a")}, chunk.CauseViolation},
	} {
		in := NewIncoming(Receiving{Streams: 2, Interleave: c.interleave, Window: 1 << 16}, newInbox(t))
		var err error
		for i, d := range c.all {
			require.NoError(t, err, "%s: %d", name, i)
			_, err = in.Add(d, false)
		}
		var v *Violation
		require.ErrorAs(t, err, &v, name)
		assert.Equal(t, c.cause, v.Cause, name)
		assert.True(t, v.Fatal, name)
	}
}

// RFC 9260, section 6.5: a stream that does not exist is told by an ERROR, and the chunk acknowledged.
func TestStreamThatDoesNotExist(t *testing.T) {
	in := NewIncoming(Receiving{Streams: 1, Window: 1 << 16}, newInbox(t))
	taken, err := in.Add(data(false, whole, 1, 0, 0, "a"), true)
	var v *Violation
	require.ErrorAs(t, err, &v)
	assert.True(t, taken)
	assert.False(t, v.Fatal)
	assert.EqualValues(t, chunk.CauseInvalidStream, v.Cause)
	assert.Equal(t, []byte{0, 1, 0, 0}, v.Info)
}

// What has overtaken something is kept as long as there is room. What is due needs none.
func TestBounded(t *testing.T) {
	box := newInbox(t)
	in := NewIncoming(Receiving{Streams: 2, Window: 4096}, box)
	kept := uint32(0)
	for n := uint32(1); ; n++ {
		taken, err := in.Add(data(false, whole, n, n, 0, "x"), false)
		require.NoError(t, err)
		if !taken {
			break
		}
		kept++
	}
	assert.EqualValues(t, 4096*3/2/(fragmentCost+1), kept)
	assert.Less(t, in.Window(), fragmentCost+1)
	taken, err := in.Add(data(false, whole, 0, 0, 0, "x"), true)
	require.NoError(t, err)
	require.True(t, taken)
	assert.EqualValues(t, kept+1, box.count())
	assert.Equal(t, 4096, in.Window())
}

// A peer that goes by what it was told finds room for all that it has sent, whatever it costs to hold that: also for what was lost
// and comes last.
func TestAllThatWasToldHasRoom(t *testing.T) {
	for _, size := range []int{256, 1000, 1400, 8000} {
		in := NewIncoming(Receiving{Streams: 2, Window: 1 << 18}, newInbox(t))
		payload := strings.Repeat("x", size)
		last := uint32(in.Window() / size)
		for _, step := range []uint32{2, 3} { // the odd ones are lost at first
			for n := step; n <= last; n += 2 {
				taken, err := in.Add(data(false, whole, n, n, 0, payload), false)
				require.NoError(t, err)
				require.True(t, taken, "%d of %d, of %d bytes", n, last, size)
			}
		}
		require.Less(t, in.Window(), 2*size)
	}
}

// A peer whose messages can never be handed over has its association ended, not the memory of the host.
func TestOutOfResource(t *testing.T) {
	in := NewIncoming(Receiving{Streams: 2, Window: 4096}, newInbox(t))
	var err error
	for n := uint32(1); err == nil; n++ {
		require.Less(t, in.Held(), 2*4096+1)
		_, err = in.Add(data(false, whole, n, 1+n, 0, "x"), true)
	}
	var v *Violation
	require.True(t, errors.As(err, &v))
	assert.EqualValues(t, chunk.CauseOutOfResource, v.Cause)
}

// A receiver may end the association from within.
func TestCloseWithin(t *testing.T) {
	box := newInbox(t)
	in := NewIncoming(Receiving{Streams: 2, Window: 4096}, box)
	box.after = in.Close
	for n := uint32(3); n > 0; n-- {
		_, err := in.Add(data(false, whole, n, n-1, 0, "x"), false)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, box.count())
	taken, err := in.Add(data(false, whole, 4, 3, 0, "x"), true)
	require.NoError(t, err)
	assert.False(t, taken)
}

// In the steady state nothing is allocated, neither in order nor with loss.
func TestNoAllocations(t *testing.T) {
	for _, interleave := range []bool{false, true} {
		o, err := NewOutgoing(Sending{Streams: 4, Interleave: interleave, Scheduler: "wfq"})
		require.NoError(t, err)
		in := NewIncoming(Receiving{Streams: 4, Interleave: interleave, Window: 1 << 20}, nothing{})
		r := rand.New(rand.NewPCG(1, 2))
		var messages [4]*Message
		for i := range messages {
			messages[i] = message(r, uint16(i), i, 3000, false)
		}
		tsn, late := uint32(0), make([]chunk.Data, 0, 64)
		memory := make([]byte, 1<<20)
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			for _, m := range messages {
				require.NoError(t, o.Push(m))
			}
			late = late[:0]
			b := memory[:0]
			for f, ok := o.Next(1400, 1400); ok; f, ok = o.Next(1400, 1400) {
				var d chunk.Data
				f.Header(&d, tsn, interleave)
				tsn++
				start := len(b)
				b = f.AppendTo(b)
				d.Payload = b[start:]
				late = append(late, d)
				f.Confirm()
			}
			for i := range late { // the first of all comes last
				if _, err := in.Add(&late[(i+1)%len(late)], false); err != nil {
					panic(err)
				}
			}
		}))
		assert.Zero(t, in.Held())
	}
}

type nothing struct{}

func (nothing) Receive(uint16, uint32, []byte, bool) {}
