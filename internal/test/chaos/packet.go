package chaos

import (
	"sync"

	"github.com/strandmp/strand/btl"
)

// A packet is a frame under way.
type packet struct {
	header  []byte
	size    int
	lane    int
	goodbye bool

	mu      sync.Mutex // two loops read the payload: the sender's may have to, when it closes
	payload []byte
	source  *btl.Frame // where the payload still is; nil once it was copied

	frame *btl.Frame // the sender's, to be released; its own loop's alone

	// The receiver's.
	wait    int // polls until it moves
	landing *btl.Landing
	read    int
}

// bytes returns the payload, which leaves the sender's memory now at the latest.
func (p *packet) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.source != nil {
		p.payload = make([]byte, p.size)
		p.source.CopyPayload(p.payload)
		p.source = nil
	}
	return p.payload
}

// A delayed is a frame that is to be released, or just a poll to be waited for.
type delayed struct {
	frame *btl.Frame
	wait  int
}
