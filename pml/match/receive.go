package match

// Post offers a receive. If a message waits for it, Post takes and returns it
// (Matched is not called); otherwise the receive is posted and the result nil.
func (c *Context) Post(r *Recv) *Message {
	if c.waiting > 0 {
		if m := c.search(r.Source, r.Tag); m != nil {
			c.take(m)
			return m
		}
	}
	kind := kindOf(r.Source, r.Tag)
	c.place++
	r.place, r.posted = c.place, true
	c.posted[kind]++
	s := c.recent.find(r.Source, r.Tag)
	if s == nil {
		s = c.receives.get(c.hasher.hash(r.Source, r.Tag))
		c.recent = recent{source: r.Source, tag: r.Tag, slot: s}
	}
	s.head = appendRecv(s.head, r)
	return nil
}

// recent is the slot of the last receive that was posted, and good until the table moves. The next one often names the same source and tag, and so does
// the message that comes, and neither has to look for it.
type recent struct {
	source, tag int32
	slot        *slot[Recv]
}

// find returns the slot of a source and a tag if it is that one, else nil.
func (l *recent) find(source, tag int32) *slot[Recv] {
	if l.source == source && l.tag == tag {
		return l.slot
	}
	return nil
}

// Cancel takes back a posted receive and reports whether it was posted. Messages
// that it held are examined again.
func (c *Context) Cancel(r *Recv) bool {
	if !r.posted {
		return false
	}
	c.unpost(r, c.receives.find(c.hasher.hash(r.Source, r.Tag)))
	if r.Tag == Any {
		c.reexamine()
	}
	return true
}

// Posted is how many receives are posted.
func (c *Context) Posted() (n int) {
	for _, of := range c.posted {
		n += of
	}
	return n
}

// unpost takes a receive out of its list, which is the slot's. The slot is not good any more then.
func (c *Context) unpost(r *Recv, s *slot[Recv]) {
	r.posted = false
	c.posted[kindOf(r.Source, r.Tag)]--
	if s.head = removeRecv(s.head, r); c.posted == [kinds]int{} && c.receives.rest() {
		c.recent = recent{}
	}
}

// Probe returns the message that a receive posted now would get, or nil.
func (c *Context) Probe(source, tag int32) *Message {
	if c.waiting == 0 {
		return nil
	}
	return c.search(source, tag)
}

// Take removes a message that Probe has returned: nothing else can match it.
func (c *Context) Take(m *Message) { c.take(m) }

// search finds the first message, in the order of becoming ready, that a new
// receive may have: one that fits it and no receive posted before.
func (c *Context) search(source, tag int32) *Message {
	if tag == Any {
		// What is seq-ready fits no posted receive, or it would have matched.
		return c.firstInSeq(source)
	}
	m := c.messages.find(c.hasher.hash(source, tag)).head
	if c.posted[anyTag]+c.posted[anyBoth] == 0 {
		return m // the same goes for every message while no receive names any tag
	}
	if source != Any {
		if m != nil && c.held(m) {
			return nil // and the younger ones are held by the same receive
		}
		return m
	}
	for m != nil && c.held(m) {
		m = m.links[ofAnySource].next
	}
	return m
}

// firstInSeq returns the first message that is seq-ready, or nil.
func (c *Context) firstInSeq(source int32) *Message {
	if source == Any {
		return c.queue.first()
	}
	if ch := c.channels[source]; ch != nil {
		return ch.waiting.first()
	}
	return nil
}

// held reports whether a message waits for a receive of any tag that is posted.
func (c *Context) held(m *Message) bool {
	if m.seqReady {
		return false
	}
	r, _ := c.firstFit(m.Source, m.Tag)
	return r != nil
}

// Relax lets receives for any tag take messages in the order of arrival from
// now on, whatever older ones are missing.
func (c *Context) Relax() {
	if c.relaxed {
		return
	}
	c.relaxed = true
	for m := c.tagOnly; m != nil; {
		next := m.links[tagOnly].next
		m.seqReady = true
		c.examine(m)
		m = next
	}
}

// Discard hands every message that waits, and every one that finds no receive
// when it becomes ready from now on, to unwanted. The numbers keep counting. No
// receive may be posted any more.
func (c *Context) Discard(unwanted func(*Message)) {
	c.unwanted = unwanted
	discard := func(m *Message) {
		c.take(m)
		unwanted(m)
	}
	for m := c.tagOnly; m != nil; m = c.tagOnly {
		discard(m)
	}
	for m := c.Probe(Any, Any); m != nil; m = c.Probe(Any, Any) {
		discard(m)
	}
}
