package pml

import "fmt"

// Credit is counted in units of 64 bytes, and as absolute numbers that wrap
// around: what was granted, and what was used, since the connection came up. So
// a grant that is lost, or overtaken by a newer one, does no harm.
const (
	creditUnit = 64
	// envelopeUnits is the price of a message beside its data: the memory that
	// its envelope takes while it is unexpected.
	envelopeUnits = 7
)

// creditFor is the price of a message that comes with n bytes of data.
func creditFor(n int) uint32 {
	return envelopeUnits + uint32((n+creditUnit-1)/creditUnit)
}

// senderCredit is what a peer lets us send unasked.
type senderCredit struct {
	granted, used uint32
	opened        bool
}

// open takes the first grant, made when the connection came up, which was looked at
// when the hello was read.
func (c *senderCredit) open(first uint32) {
	if !c.opened {
		c.opened = true
		_ = c.update(first)
	}
}

// update takes a newer grant; an older one changes nothing. One of more than anybody can
// promise is damage.
func (c *senderCredit) update(granted uint32) error {
	if int32(granted-c.granted) <= 0 {
		return nil
	}
	if free := int32(granted - c.used); free > maxGrant {
		return fmt.Errorf("a grant of %d units of credit; no process has more than %d to grant", free, maxGrant)
	}
	c.granted = granted
	return nil
}

func (c *senderCredit) available() uint32 {
	if left := int32(c.granted - c.used); left > 0 {
		return uint32(left)
	}
	return 0
}

// spend takes units if there are so many.
func (c *senderCredit) spend(units uint32) bool {
	if c.available() < units {
		return false
	}
	c.used += units
	return true
}

// receiverCredit is what we let a peer send unasked.
type receiverCredit struct {
	size       uint32 // what it may have outstanding at one time
	granted    uint32
	used       uint32
	advertised uint32 // granted, as the peer was told last
}

func (c *receiverCredit) open(first uint32) {
	c.size, c.granted, c.advertised = first, first, first
}

// advertise returns the number to put into a header.
func (c *receiverCredit) advertise() uint32 {
	c.advertised = c.granted
	return c.granted
}

// charge takes the price of a message that arrived. A peer that sends more than
// it was granted breaks the protocol.
func (c *receiverCredit) charge(units uint32) error {
	if left := int32(c.granted - c.used); left < 0 || uint32(left) < units {
		return fmt.Errorf("message of %d credit units, but only %d are left", units, int32(c.granted-c.used))
	}
	c.used += units
	return nil
}

// refund grants anew what a message no longer takes, and reports whether the
// peer should be told soon.
func (c *receiverCredit) refund(units uint32) bool {
	c.granted += units
	return c.granted-c.advertised >= c.size/2+1
}

// outstanding is what of the promises is taken by messages that are here.
func (c *receiverCredit) outstanding() uint32 { return c.size - (c.granted - c.used) }

// expire notes that the peer will send nothing more: what was promised to it beyond the
// first grant is there for others again, but for what its messages still take.
func (c *receiverCredit) expire(first uint32, pool *uint64) {
	size := min(c.size, max(first, c.outstanding()))
	*pool += uint64(c.size - size)
	c.granted -= c.size - size
	c.size = size
}

// grow promises more to a peer that had to hold back, out of what the process
// has left, and reports whether it did.
func (c *receiverCredit) grow(limit uint32, pool *uint64) bool {
	more := min(max(c.size, 1024), limit-min(limit, c.size))
	more = uint32(min(uint64(more), *pool))
	if more == 0 {
		return false
	}
	*pool -= uint64(more)
	c.size += more
	c.granted += more
	return true
}
