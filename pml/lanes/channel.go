package lanes

const (
	// Most is how many tags a channel remembers.
	Most = 256
	// enough is from how many tags on it forgets them all when it can. So there is room for the
	// new tags that are under way together.
	enough = Most / 2
)

// A Peer is what the channels to one peer have in common.
type Peer struct {
	// Lanes is how many there are, at least 1 and at most 65536.
	Lanes int

	next int // where the next channel begins
}

// A Channel gives lanes to the tags of one communicator's messages to one peer. The zero value
// has met no tag.
type Channel struct {
	last  entry   // the tag of the last message
	table []entry // by tag, with open addressing; a power of two, at least half empty
	tags  int     // in the table
	next  int     // the lane of the next tag that is new
}

// entry is a tag and its lane. The zero value is no entry.
type entry struct {
	key  uint32 // the tag + 1
	lane uint16
}

// Last is the lane of a tag if it is that of the last message.
func (c *Channel) Last(tag int32) (uint16, bool) {
	return c.last.lane, c.last.key == uint32(tag)+1
}

// Lane is the lane of the next message with the tag, which is not negative. Quiet says that
// everything that was sent to the peer until now has arrived.
func (c *Channel) Lane(tag int32, p *Peer, quiet bool) uint16 {
	e := entry{key: uint32(tag) + 1}
	if found := c.place(e.key); found != nil && found.key != 0 {
		c.last = *found
		return found.lane
	}
	if c.tags >= enough && quiet {
		clear(c.table)
		c.tags = 0
	}
	if c.tags == Most {
		return byNumber(tag, p.Lanes)
	}
	e.lane = c.give(p)
	c.keep(e)
	c.last = e
	return e.lane
}

// give gives out a lane. A channel begins behind the lane that was given last to any channel of
// the peer: many communicators of few tags each share the lanes too.
func (c *Channel) give(p *Peer) uint16 {
	if c.table == nil {
		c.next = p.next
	}
	lane := c.next
	c.next = (lane + 1) % p.Lanes
	p.next = c.next
	return uint16(lane)
}

// keep enters a tag that is not in the table.
func (c *Channel) keep(e entry) {
	if 2*c.tags >= len(c.table) {
		old := c.table
		c.table = make([]entry, max(8, 2*len(old)))
		for _, o := range old {
			if o.key != 0 {
				*c.place(o.key) = o
			}
		}
	}
	*c.place(e.key) = e
	c.tags++
}

// place is where a key is in the table or, if it is not there, would be. It is nil if there is no
// table yet.
func (c *Channel) place(key uint32) *entry {
	mask := len(c.table) - 1
	if mask < 0 {
		return nil
	}
	for i := int(key * golden >> 8); ; i++ {
		if e := &c.table[i&mask]; e.key == key || e.key == 0 {
			return e
		}
	}
}

// golden is 2³² divided by the golden ratio.
const golden = 0x9E3779B1

// byNumber is the lane of a tag that has no place, by Fibonacci hashing: rows of tags, and steps,
// come to lie between each other (Knuth, The Art of Computer Programming, section 6.4).
func byNumber(tag int32, lanes int) uint16 {
	return uint16(uint64(uint32(tag)*golden) * uint64(lanes) >> 32)
}
