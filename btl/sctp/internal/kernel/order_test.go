//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/strandmp/strand/btl"
)

// ordered sends numbered messages on all streams and checks that those of each
// stream come in the order of sending.
type ordered struct {
	peer
	out, in map[uint16]uint32
	rng     *rand.Rand
	sent    int
}

const orderedMessages, orderedStreams = 1500, 10

// send sends until there is no room, or at most n messages.
func (o *ordered) send(content []byte, n int) {
	for ; n > 0 && o.sent < orderedMessages; n-- {
		stream := uint16(o.rng.IntN(orderedStreams))
		size := o.rng.IntN(1 << (4 + o.rng.IntN(13)))
		if o.rng.IntN(8) == 0 {
			size = len(content) // of more than one chunk, even on the loopback
		}
		head := binary.LittleEndian.AppendUint32(nil, o.out[stream])
		if o.a.Send(stream, 0, head, &btl.Frame{Payload: content[:size], Size: size}) != btl.Done {
			return
		}
		o.out[stream]++
		o.sent++
	}
}

func (o *ordered) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	o.peer.Receive(stream, ppid, piece, end)
	for _, m := range o.messages {
		if n := binary.LittleEndian.Uint32(m.data); n != o.in[m.stream] {
			o.t.Errorf("stream %d: message %d (%d bytes) instead of %d", m.stream, n, len(m.data), o.in[m.stream])
		}
		o.in[m.stream]++
	}
	o.messages = o.messages[:0]
}

// Much of all sizes on all streams, both ways at once and on two processors,
// keeps its order.
func TestKernelOrder(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	here, there := x.join(y)
	content := make([]byte, 66_000)
	var ends []*ordered
	for i, p := range []*peer{here, there} {
		o := &ordered{peer: peer{t: t, a: p.a, up: true}, out: map[uint16]uint32{}, in: map[uint16]uint32{}, rng: rand.New(rand.NewPCG(1, uint64(i)))}
		p.a.handler = o
		ends = append(ends, o)
	}
	var both sync.WaitGroup
	for i, o := range ends {
		own := &loop{t: t, watches: []*watch{l.watches[i]}}
		both.Go(func() {
			own.until("all have come", func() bool {
				o.send(content, 20)
				return o.count == orderedMessages && o.sent == orderedMessages
			})
		})
	}
	both.Wait()
}
