package udp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/rawio"
)

// Whoever sees packets that are protected may change, cut, repeat and invent what it likes, in both directions: each frame
// arrives once and as it was, the connection lasts, and what was forged is counted.
func TestIntruder(t *testing.T) {
	for how := protectAuthenticated; how <= protectEncrypted; how++ {
		p := connected(t, with(pProtect, protections[how]))
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		in := &intruder{r: rand.New(rand.NewPCG(seed, 0))}
		p.answer, p.meddle = in.at(p, 0), in.at(p, 1)
		const frames = 100
		want := make(map[string]string)
		for i := range frames {
			header, payload := fmt.Sprint(i), strings.Repeat(fmt.Sprint(i%10), in.r.IntN(10_000))
			want[header] = payload
			p.send(frame(header, payload))
			p.turn()
		}
		p.until("all frames", func() bool { return len(p.recv[1].Frames) >= frames })
		p.settle()
		require.Len(t, p.recv[1].Frames, frames)
		for _, f := range p.recv[1].Frames {
			assert.Equal(t, want[f.Header], f.Payload)
			delete(want, f.Header)
		}
		assert.Empty(t, want)
		for rank, ep := range p.ends {
			assert.Zero(t, p.recv[rank].Downs, "%v", p.recv[rank].Err)
			assert.NotZero(t, ep.forged)
		}
	}
}

// An intruder sees all packets.
type intruder struct {
	r    *rand.Rand
	seen [][]byte
}

// mostSeen bounds what it remembers.
const mostSeen = 64

// at has a rank get packets of the intruder's before each that comes.
func (in *intruder) at(p *pair, rank int) func([]byte) bool {
	return func(b []byte) (drop bool) {
		if len(in.seen) < mostSeen {
			in.seen = append(in.seen, nil)
		}
		in.seen[in.r.IntN(len(in.seen))] = bytes.Clone(b)
		for range 3 {
			ep := p.ends[rank]
			ep.m.take(ep.link.so, new(rawio.Origin), p.clock.Now(), in.packet(b))
		}
		return false
	}
}

// packet makes one of the packet that comes, or of an earlier one of any direction.
func (in *intruder) packet(b []byte) []byte {
	if old := in.seen[in.r.IntN(len(in.seen))]; old != nil && in.r.IntN(2) == 0 {
		b = old
	}
	b = bytes.Clone(b)
	switch in.r.IntN(6) {
	case 0:
		b[in.r.IntN(len(b))] ^= 1 << in.r.IntN(8)
	case 1:
		b = b[:in.r.IntN(len(b))]
	case 2:
		b = append(b, b...)
	case 3:
		b[0] = kindHello + byte(in.r.IntN(6))
	case 4: // of a later key, maybe
		if len(b) >= headSize {
			order.PutUint64(b[nameSize:], in.r.Uint64()>>in.r.IntN(64))
		}
	}
	return b // or as it was: again, or too early
}
