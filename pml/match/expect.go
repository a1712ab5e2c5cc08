package match

// Expect is Arrive for the common case: the message is next among those of its
// sender and in its lane, no number is missing, and a receive waits for it. Then
// Expect takes the receive, notes the numbers and returns it; Matched is not
// called and there need be no Message. In any other case it returns nil, nothing
// has changed, and Arrive decides.
func (ch *Channel) Expect(lane *Lane, seq, laneSeq uint32, tag int32) *Recv {
	c := ch.context
	if seq != ch.next || laneSeq != lane.next || len(ch.early) != 0 || len(lane.early) != 0 || c.tagOnly != nil {
		return nil
	}
	var r *Recv
	var s *slot[Recv]
	if c.posted[anyTag]+c.posted[anySource]+c.posted[anyBoth] > 0 {
		r, s = c.firstFit(ch.source, tag)
	} else {
		s = c.receives.find(c.hasher.hash(ch.source, tag))
		r = s.head
	}
	if r == nil {
		return nil
	}
	c.unpost(r, s)
	ch.next++
	lane.next++
	return r
}
