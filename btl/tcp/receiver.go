package tcp

import (
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// readBudget is how much one poll reads, so that a peer that sends without end does not keep
// the others waiting.
const readBudget = 1 << 20

var errNoGoodbye = fmt.Errorf("the peer's end of the connection has closed %w", wireup.ErrNoGoodbye)

// receive reads what is there and reports whether anything was. What a reading brings it does not
// report: the reading does.
func (ep *endpoint) receive() bool {
	return ep.reading.stage == noMove && ep.receiveHere(btl.LongMove)
}

// receiveHere is receive while there is no reading. Where one read may bring more than most bytes to a
// landing place it begins a reading.
func (ep *endpoint) receiveHere(most int) bool {
	if ep.sealed != nil {
		return ep.receiveSealed()
	}
	did := ep.read(most)
	ep.scanner.Rest()
	return did
}

func (ep *endpoint) read(most int) bool {
	did := false
	s := &ep.scanner
	for budget := readBudget; budget > 0 && ep.Live(); {
		if s.Direct() > most && ep.mayReadApart() {
			ep.readApart()
			return did
		}
		b, direct := s.Next()
		if direct {
			b = b[:min(len(b), btl.LongMove)]
		}
		n, errno := ep.conn.Recv(b)
		ep.counters.ReceiveCalls++
		if n <= 0 {
			return ep.nothing(errno) || did
		}
		did = true
		budget -= n
		ep.counters.BytesReceived += uint64(n)
		if err := s.Advance(n); err != nil {
			ep.Malformed(err)
			return true
		}
		// A short read means that this was all there is. And when a frame has landed, a thread
		// that waits for it need not wait for another read.
		if n < len(b) || direct && !s.Landing() {
			return true
		}
	}
	return did
}

// nothing handles a read that has brought nothing.
func (ep *endpoint) nothing(errno syscall.Errno) bool {
	switch errno {
	case syscall.EAGAIN:
		return false
	case 0:
		ep.Down(ep.Error("receiving", errNoGoodbye))
	default:
		ep.Down(ep.Error("receiving", errno))
	}
	return true
}
