package pml

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// returning is an endpoint that keeps the header of what it took last.
type returning struct {
	btl.Endpoint
	header [btl.MaxHeader]byte
	size   int
}

func (e *returning) Send(f *btl.Frame, _ int) btl.Result {
	e.size = copy(e.header[:], f.Header)
	return btl.Done
}

// BenchmarkShort is what the message layer takes for a short message, on both sides, when
// nothing stands in its way: all but the transport, the lock and the wait.
func BenchmarkShort(b *testing.B) {
	pe, _, c := receiving(b)
	r, ep := pe.rails[0], new(returning)
	r.setEndpoint(ep)
	r.attr = btl.Attr{EagerLimit: 1 << 10, MaxFrame: 1 << 10}
	p := pe.pml
	p.tune.copyLimit, p.tune.copyPool = 1<<10, 1<<20
	pe.credit.Open(1 << 10)
	c.channelTo(1)
	buf, into := make([]byte, 8), make([]byte, 8)
	b.ReportAllocs()
	for range b.N {
		op, err := c.irecv(into, nil, 1, 5)
		if err != nil || !c.sendShort(buf, 1, 5) {
			b.Fatal("not sent", err)
		}
		if err := r.Deliver(ep.header[:ep.size], buf); err != nil || !op.done {
			b.Fatal("not received", err)
		}
		p.freeOperation(op)
	}
	require.LessOrEqual(b, pe.sent.Outstanding(), 1, "a frame acknowledges the one before")
}
