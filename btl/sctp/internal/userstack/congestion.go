package userstack

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// A resend counts the chunks of data that pion sends again, since pion's own counters
// are not public. It looks at each packet that leaves; that costs little beside the
// system call that follows.
type resend struct {
	highest uint32 // TSN so far; only pion's writer touches it
	count   atomic.Int64
	tsns    []uint32 // of the packet looked at
}

// Where a chunk of data has its TSN and its stream.
const (
	tsnAt    = chunkHead
	streamAt = tsnAt + 4
)

// look takes note of a packet and returns how many bytes of messages it has that were
// not sent before, and whether it has some that were. Numbers are compared as RFC 1982
// has it.
func (r *resend) look(b []byte) (fresh int, again bool) {
	r.tsns = r.tsns[:0]
	chunks(b, func(kind byte, c []byte) bool {
		if (kind == chunkData || kind == chunkIData) && len(c) >= tsnAt+4 {
			tsn := binary.BigEndian.Uint32(c[tsnAt:])
			r.tsns = append(r.tsns, tsn)
			if int32(tsn-r.highest) > 0 {
				r.highest = tsn
				fresh += payload(kind, c)
			} else {
				r.count.Add(1)
				again = true
			}
		}
		return true
	})
	return fresh, again
}

// Congestion implements [stack.Association]. Pion does not tell its timeout.
func (a *association) Congestion() (btl.Congestion, bool) {
	if a.pion == nil || a.ended {
		return btl.Congestion{}, false
	}
	return btl.Congestion{
		Algorithm: "RFC 9260",
		Window:    int(a.pion.CWND()),
		RoundTrip: time.Duration(a.pion.SRTT() * float64(time.Millisecond)),
		Resent:    a.conn.resend.count.Load() + a.conn.again.sent.Load(),
		Timeouts:  a.timeouts.count.Load(),
	}, true
}
