package match

// Return takes back a message whose receive has ended without it, and offers it anew. The
// message has its old place among those that wait, and matches the first receive that fits it
// now. What younger messages have matched meanwhile stays matched. The cost grows with the
// number of messages that became ready before it, of its tag and of all tags.
func (c *Context) Return(m *Message) {
	m.inSeq = m.channel.back(m.Seq, m, m.inSeq)
	m.inLane = m.lane.back(m.LaneSeq, m, m.inLane)
	m.seqReady, m.held = m.inSeq || c.relaxed, false
	if m.seqReady && m.seqAt == 0 {
		m.seqAt = c.missed(m)
	}
	r, s := c.firstFit(m.Source, m.Tag)
	switch {
	case r == nil && c.unwanted != nil:
		c.take(m)
		c.unwanted(m)
	case r == nil:
		c.relist(m)
		c.version++
	case r.Tag == Any && !m.seqReady:
		c.relist(m)
		m.held = true
		c.Stats.Held++
	default:
		if c.match(r, s, m); r.Tag == Any {
			c.reexamine()
		}
	}
}

// missed is the time at which a message that comes back counts as ready for any tag. The
// message was received out of order, so it was not there when it became so. It stands before
// what its sender has sent later. Which of two senders was first nobody can tell any more, and
// no rule asks for it (MPI 4.1, section 3.5).
func (c *Context) missed(m *Message) uint64 {
	q := &m.channel.waiting
	for place := q.head; place != q.tail; place++ {
		if other := *q.at(place); other != nil && int32(other.Seq-m.Seq) > 0 {
			return other.seqAt
		}
	}
	return c.now()
}

// back enters a message that is there again, whose number is known already, and reports whether
// every lower number has arrived.
func (o *order) back(n uint32, m *Message, ready bool) bool {
	if ready || int32(n-o.next) < 0 {
		return true
	}
	o.early[n] = m
	return false
}

// relist enters a message that came back into its lists, each at its old place.
func (c *Context) relist(m *Message) {
	m.listed = true
	c.waiting++
	for list, source := range []int32{ofItsSource: m.Source, ofAnySource: Any} {
		s := c.messages.get(c.hasher.hash(source, m.Tag))
		s.head = insertMessage(s.head, m, list)
	}
	if !m.seqReady {
		m.tagOnly = true
		c.tagOnly = insertMessage(c.tagOnly, m, tagOnly)
		return
	}
	m.queued = true
	m.channel.waiting.insert(m)
	c.queue.insert(m)
}

// insertMessage returns the head of the list with m in front of the first message that
// became ready after it.
func insertMessage(head, m *Message, list int) *Message {
	younger := head
	for younger != nil && younger.tagAt < m.tagAt {
		younger = younger.links[list].next
	}
	if younger == nil {
		return appendMessage(head, m, list)
	}
	before := younger.links[list].prev // of the head, the tail
	m.links[list] = link{next: younger, prev: before}
	younger.links[list].prev = m
	if younger == head {
		return m
	}
	before.links[list].next = m
	return head
}

// insert puts a message in front of those that became ready for any tag after it.
func (q *messageQueue) insert(m *Message) {
	q.append(m)
	for place := m.places[q.kind]; place != q.head; place-- {
		before := q.at(place - 1)
		if *before != nil && (*before).readyBefore(m) {
			return
		}
		if *before != nil {
			(*before).places[q.kind] = place
		}
		*q.at(place), *before = *before, m
		m.places[q.kind] = place - 1
	}
}

// readyBefore compares when two messages became ready for any tag. Messages of the same time
// are of one sender ([Context.missed]), and compare by seq.
func (m *Message) readyBefore(other *Message) bool {
	return m.seqAt < other.seqAt || m.seqAt == other.seqAt && int32(m.Seq-other.Seq) < 0
}
