package userstack

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/pion/sctp"
)

// Pion, like most stacks, acknowledges every second packet at once and an odd one after
// 200 ms. A sender that waits for that can ask for it at once, by the I bit (RFC 7053).
// Pion obeys the bit and never sets it. So it is set here, in packets on their way out that
//
//   - fill the congestion window, or the peer's, while more data waits: nothing
//     can be sent before they are acknowledged,
//   - are sent again, since what comes after them may wait,
//   - have a control message, the last of which ends the association.
//
// The end of a message is no reason: nobody waits for its acknowledgement, and an
// acknowledgement for each would slow down small messages.

// urge is what a conn knows for that. The counts are bytes of messages.
type urge struct {
	assoc atomic.Pointer[sctp.Association] // nil until pion has returned it
	// Bytes given to pion. Most counts a message before pion is given it, least after that.
	// So at any time what pion has been given lies between the two.
	most, least atomic.Uint64
	sent        uint64 // of that, sent for the first time; only pion's writer touches it
}

const (
	flagImmediate = 8 // in a chunk of data
	dataHead      = 16
	iDataHead     = 20
)

// payload is how many bytes of a message a chunk of data has.
func payload(kind byte, c []byte) int {
	if kind == chunkIData {
		return max(len(c)-iDataHead, 0)
	}
	return max(len(c)-dataHead, 0)
}

// ask sets the bit in a packet that needs it, and reports whether that is the last one of a
// window. It may change the packet: pion marshals each for one Write.
func (c *conn) ask(b []byte, again bool) (blocked bool) {
	last, control := lastData(b)
	if last == nil {
		return false
	}
	blocked = c.blocked()
	if blocked || again || control {
		last[1] |= flagImmediate
		binary.LittleEndian.PutUint32(b[8:], checksum(b))
	}
	return blocked
}

// lastData returns the last chunk of data, and reports whether one of them is of
// the control stream.
func lastData(b []byte) (last []byte, control bool) {
	chunks(b, func(kind byte, c []byte) bool {
		if (kind == chunkData || kind == chunkIData) && len(c) >= dataHead {
			last = c
			control = control || binary.BigEndian.Uint16(c[streamAt:]) == 0
		}
		return true
	})
	return last, control
}

// blocked reports whether pion can send nothing more behind the packet that is leaving,
// though it has more. When in doubt it says so: a mistake costs one acknowledgement.
func (c *conn) blocked() bool {
	u := &c.urge
	p := u.assoc.Load()
	if p == nil || u.most.Load() == u.sent {
		return false
	}
	unsent := int64(u.least.Load() - u.sent)
	chunk := int64(c.a.mtu - headerSize - iDataHead)
	outstanding := int64(p.BufferedAmount()) - unsent
	return outstanding+chunk > int64(p.CWND()) || chunk > int64(p.RWND())
}
