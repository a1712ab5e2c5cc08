package transfer

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Errors of an acknowledgement: the peer has violated the protocol.
var (
	ErrNeverSent = errors.New("it acknowledges what was never sent")
	ErrGaps      = errors.New("its gaps are out of order")
)

// Acknowledge takes an acknowledgement. After an error nothing of it was taken. What has arrived for good is
// to be fetched then, by [Sender.Confirmed].
func (s *Sender) Acknowledge(now int64, sack *chunk.SACK) error {
	cumulative := s.number(sack.Cumulative)
	if err := s.read(sack, cumulative); err != nil {
		return err
	}
	if cumulative+1 < s.base {
		s.Stale++
		return nil
	}
	before, had := s.bytes, s.told
	s.begin(now)
	s.confirm(now, cumulative)
	s.gaps.minus(s.news, s.base, func(first, last uint64) { s.withdraw(now, first, last) })
	s.news.minus(s.gaps, s.base, func(first, last uint64) { s.arrive(now, first, last) })
	s.gaps, s.news = s.news, s.gaps
	for i := range sack.Duplicates() {
		s.twice(now, s.number(sack.Duplicate(i)))
	}
	s.end(now)
	if s.told = windowOf(sack.Window); s.bytes > before || s.bytes == before && s.isFull(sack) {
		s.told = min(s.told, had) // it may have been overtaken by one that told of more
	}
	s.most = max(s.most, s.told)
	s.listen(had, s.bytes < before)
	return nil
}

// AcknowledgeUpTo takes a cumulative TSN alone, which a SHUTDOWN has.
func (s *Sender) AcknowledgeUpTo(now int64, tsn uint32) error {
	cumulative := s.number(tsn)
	switch {
	case cumulative >= s.next:
		return neverSent(cumulative, s.next)
	case cumulative+1 < s.base:
		s.Stale++
		return nil
	}
	s.begin(now)
	s.confirm(now, cumulative)
	s.end(now)
	return nil
}

func neverSent(n, next uint64) error {
	return fmt.Errorf("%w: TSN %d, the next is %d", ErrNeverSent, uint32(n), uint32(next))
}

// read reads the gaps of an acknowledgement.
func (s *Sender) read(sack *chunk.SACK, cumulative uint64) error {
	highest := uint64(0)
	s.news = s.news[:0]
	for i := range sack.Gaps() {
		g := sack.Gap(i)
		if uint64(g.First) <= highest || g.Last < g.First {
			return fmt.Errorf("%w: %d to %d behind %d", ErrGaps, g.First, g.Last, highest)
		}
		highest = uint64(g.Last)
		s.news = append(s.news, span{cumulative + uint64(g.First), cumulative + highest})
	}
	if cumulative+highest >= s.next {
		return neverSent(cumulative+highest, s.next)
	}
	if s.isFull(sack) {
		s.news = s.news.join(s.gaps, cumulative+highest+1)
	}
	return nil
}

// isFull reports whether an acknowledgement may have had no room for all gaps: a receiver reports as many as one packet takes. Of what is
// beyond the last one it says nothing then, and that has still arrived.
func (s *Sender) isFull(sack *chunk.SACK) bool {
	size := chunk.HeaderSize + chunk.SACKHeader + chunk.SACKItem*(sack.Gaps()+sack.Duplicates()+1)
	for i := range s.ways {
		if size > s.ways[i].packet {
			return true
		}
	}
	return false
}

func (s *Sender) begin(now int64) {
	s.leftFrom, s.leftTo = s.next, 0
	for i := range s.ways {
		s.ways[i].path.Begin(now)
	}
}

func (s *Sender) end(now int64) {
	if s.fates[left] > 0 {
		s.resend(s.leftFrom, s.leftTo+1, left)
	}
	for i := range s.ways {
		path := s.ways[i].path
		path.End(now, 0, 0, (*owner)(s))
		s.ways[i].rate.measure(now, path.Smoothed)
		if s.base == s.next { // a chunk may have been in more packets than the latest two
			path.Settle(now)
		}
	}
	s.gather(now)
}

// resend has those chunks of a row sent again that have some fate.
func (s *Sender) resend(from, to uint64, of fate) {
	for n := max(from, s.base); n < to; n++ {
		if s.at(n).fate == of {
			s.become(n, lost)
		}
	}
}

// confirm takes what has arrived for good: it can not be withdrawn any more.
func (s *Sender) confirm(now int64, cumulative uint64) {
	for n := s.base; n <= cumulative; n++ {
		c := s.at(n)
		s.mark(now, n, c)
		m := c.fragment.Message
		if c.fragment.Confirm() {
			s.confirmed = append(s.confirmed, m)
		}
		c.fragment.Message = nil
		s.base = n + 1
	}
}

// arrive takes what has arrived beyond a hole.
func (s *Sender) arrive(now int64, first, last uint64) {
	for n := first; n <= last; n++ {
		s.mark(now, n, s.at(n))
	}
}

// mark notes that a chunk has arrived, and with it a packet: the latest that it was in, unless the answer came
// too soon for that.
func (s *Sender) mark(now int64, n uint64, c *sent) {
	was := c.fate
	if was == arrived {
		return
	}
	s.become(n, arrived)
	if was == left || was == withdrawn {
		return // its packet had arrived
	}
	if was == underWay && !c.several {
		s.answered(c.way)
	}
	path := s.ways[c.way].path
	if c.sends > 1 && path.Early(now-c.at) {
		s.ways[c.wayBefore].path.Mark(now, uint64(c.before), (*owner)(s))
	}
	path.Mark(now, uint64(c.packet), (*owner)(s))
}

// twice notes that the receiver has had a chunk more than once: it had not been lost when it was sent again.
func (s *Sender) twice(now int64, n uint64) {
	s.Duplicates++
	if c := s.known(n); c != nil && c.sends > 1 && c.fate == arrived {
		s.ways[c.wayBefore].path.Mark(now, uint64(c.before), (*owner)(s))
	}
}

// withdraw notes that a receiver does not have any more what it had told that it had (RFC 9260, section
// 6.2.1, rule D iv). It may also be that this acknowledgement has been overtaken by the one that told so. So
// the chunks are sent again only if none says otherwise for a while.
func (s *Sender) withdraw(now int64, first, last uint64) {
	for n := first; n <= last; n++ {
		if s.at(n).fate == arrived {
			s.become(n, withdrawn)
			s.Withdrawn++
		}
	}
	if s.withdrawn == 0 {
		wait := int64(0)
		for i := range s.ways {
			wait = max(wait, int64(s.ways[i].path.Waits()))
		}
		s.withdrawn = now + wait
	}
}

// listen learns from the peer's window. Had is what it was before. A peer that says that it is full is there,
// and has dropped what was sent to find out whether it still is: as soon as it has room that is sent again.
func (s *Sender) listen(had int, news bool) {
	full := s.ways[s.current()].packet
	if s.fates[paused] > 0 && s.told < full && s.at(s.base).fate == paused {
		s.become(s.base, lost) // it can be taken, and what it waits for is not the network
	}
	if news || s.bytes == 0 {
		return
	}
	switch {
	case s.told < full:
		s.Full++
		for i := range s.ways {
			if s.usable(i) { // of the others it says nothing
				s.ways[i].errors = 0
			}
		}
	case had < full && s.at(s.base).fate == underWay:
		s.ways[s.at(s.base).way].probe = true // whatever else seems to be under way
		s.become(s.base, lost)
	}
}
