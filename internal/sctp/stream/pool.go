package stream

import (
	"math/bits"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A Pool keeps memory for fragments that have overtaken others. One serves any number of associations,
// which must not use it at the same time.
type Pool struct {
	free  [classes]*held // by size
	bytes int
	// Most is how many bytes are kept that nobody uses; 0: 1 MB.
	Most int
}

const (
	leastClass = 6 // the smallest is 64 bytes,
	classes    = 11
	mostClass  = leastClass + classes - 1 // and the largest 64 KB
	keptFree   = 1 << 20
)

// held is a fragment that has overtaken another one. Its payload is a copy.
type held struct {
	chunk.Data
	next *held // in the pool, or among the unordered messages of a stream that wait
}

// class is that of payloads of so many bytes.
func class(n int) int { return max(bits.Len(uint(n-1))-leastClass, 0) }

// get returns a copy of a fragment.
func (p *Pool) get(d *chunk.Data) *held {
	c := class(len(d.Payload))
	h := p.free[c]
	if h == nil {
		h = &held{Data: chunk.Data{Payload: make([]byte, 0, 1<<(c+leastClass))}}
	} else {
		p.free[c], h.next = h.next, nil
		p.bytes -= cap(h.Payload)
	}
	memory := h.Payload[:0]
	h.Data = *d
	h.Payload = append(memory, d.Payload...)
	return h
}

func (p *Pool) put(h *held) {
	most := p.Most
	if most == 0 {
		most = keptFree
	}
	if p.bytes+cap(h.Payload) > most {
		return
	}
	c := class(cap(h.Payload))
	h.next, p.free[c] = p.free[c], h
	p.bytes += cap(h.Payload)
}
