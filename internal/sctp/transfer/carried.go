package transfer

import "github.com/strandmp/strand/internal/recovery"

// Carried is what a packet carried: rows of chunks. It is copied some times, and kept for each packet, so it is short.
type Carried struct {
	rows   [mostRows]row
	packet uint32 // the low bits of its number
	count  uint8
	way    uint8
}

// A row of chunks begins with a TSN.
type row struct{ first, count uint32 }

// followedBy reports whether a chunk is the next one of the row.
func (r row) followedBy(n uint64) bool { return r.first+r.count == uint32(n) }

// mostRows bounds the rows of TSNs in a packet: some that are sent again, and what is new.
const mostRows = 3

// add adds a chunk. It reports whether there was a place.
func (c *Carried) add(n uint64) bool {
	if c.count > 0 {
		if last := &c.rows[c.count-1]; last.followedBy(n) {
			last.count++
			return true
		}
	}
	if c.count == mostRows {
		return false
	}
	c.rows[c.count] = row{uint32(n), 1}
	c.count++
	return true
}

// owner has the paths tell what has become of packets.
type owner Sender

// Arrived implements [recovery.Owner]. That a chunk of the packet is acknowledged is how this is known. The
// others may be acknowledged in a moment.
func (o *owner) Arrived(c Carried, size int, _ recovery.Kind) {
	w := &o.ways[c.way]
	w.rate.arrived += size
	if size <= w.packet {
		w.short.note(true)
	}
	if c.count > 1 || c.rows[0].count > 1 {
		(*Sender)(o).those(c, left)
	}
}

// Lost implements [recovery.Owner].
func (o *owner) Lost(c Carried, size int, _ recovery.Kind) {
	if w := &o.ways[c.way]; size <= w.packet {
		w.short.note(false)
	}
	(*Sender)(o).those(c, lost)
}

// lose has a chunk sent again that is lost: at once, or after a pause. A peer that is full has dropped it, whatever the network does: it takes what
// all others wait for, and has room again then.
func (s *Sender) lose(n uint64) {
	until := s.until(n)
	if until == s.at(n).at || s.told < s.ways[s.at(n).way].packet {
		s.become(n, lost)
		return
	}
	s.become(n, paused)
	s.resumes = sooner(s.resumes, until)
}

// those gives the chunks of a packet a fate that have been in no other one since, and have not arrived.
func (s *Sender) those(c Carried, to fate) {
	for _, r := range c.rows[:c.count] {
		first := s.number(r.first)
		for n := max(first, s.base); n < first+uint64(r.count); n++ {
			x := s.at(n)
			if x.fate != underWay || uint32(x.packet) != c.packet || x.way != c.way {
				continue
			}
			if to == lost {
				s.lose(n)
				continue
			}
			s.become(n, to)
			s.leftFrom, s.leftTo = min(s.leftFrom, n), max(s.leftTo, n)
		}
	}
}
