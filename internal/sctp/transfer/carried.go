package transfer

import "github.com/strandmp/strand/internal/recovery"

// Carried is what a packet carried: rows of chunks.
type Carried struct {
	packet int64
	rows   [mostRows]row
	count  uint8
	way    uint8
}

type row struct {
	first uint64
	count uint32
}

// mostRows bounds the rows of TSNs in a packet: some that are sent again, and what is new.
const mostRows = 3

// add adds a chunk. It reports whether there was a place.
func (c *Carried) add(n uint64) bool {
	if c.count > 0 {
		if last := &c.rows[c.count-1]; last.first+uint64(last.count) == n {
			last.count++
			return true
		}
	}
	if c.count == mostRows {
		return false
	}
	c.rows[c.count] = row{n, 1}
	c.count++
	return true
}

// owner has the paths tell what has become of packets.
type owner Sender

// Arrived implements [recovery.Owner]. That a chunk of the packet is acknowledged is how this is known. The
// others may be acknowledged in a moment.
func (o *owner) Arrived(c Carried, size int, _ recovery.Kind) {
	o.ways[c.way].rate.arrived += size
	(*Sender)(o).those(c, left)
}

// Lost implements [recovery.Owner].
func (o *owner) Lost(c Carried, _ int, _ recovery.Kind) { (*Sender)(o).those(c, lost) }

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
		for n := max(r.first, s.base); n < r.first+uint64(r.count); n++ {
			x := s.at(n)
			if x.fate != underWay || x.packet != c.packet || x.way != c.way {
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
