package userstack

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// A resend counts the chunks of data that pion sends again: pion's own counters are
// not to be had. It looks at each packet that leaves, which is nothing beside the
// system call that follows.
type resend struct {
	highest uint32 // TSN so far; pion's writer's
	count   atomic.Int64
}

// tsnAt is where a chunk of data has its TSN.
const tsnAt = chunkHead

// look takes note of a packet. Numbers are compared as RFC 1982 has it.
func (r *resend) look(b []byte) {
	chunks(b, func(kind byte, c []byte) bool {
		if (kind == chunkData || kind == chunkIData) && len(c) >= tsnAt+4 {
			if tsn := binary.BigEndian.Uint32(c[tsnAt:]); int32(tsn-r.highest) > 0 {
				r.highest = tsn
			} else {
				r.count.Add(1)
			}
		}
		return true
	})
}

// Congestion implements [stack.Association]. Pion tells neither its timeout nor how
// often that has passed.
func (a *association) Congestion() (btl.Congestion, bool) {
	if a.pion == nil || a.ended {
		return btl.Congestion{}, false
	}
	return btl.Congestion{
		Algorithm: "RFC 9260",
		Window:    int(a.pion.CWND()),
		RoundTrip: time.Duration(a.pion.SRTT() * float64(time.Millisecond)),
		Resent:    a.conn.resend.count.Load(),
		Timeouts:  -1,
	}, true
}
