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
	c.table.get(key(r.Source, r.Tag)).posted.append(r)
	return nil
}

// Cancel takes back a posted receive and reports whether it was posted. Messages
// that it held are examined again.
func (c *Context) Cancel(r *Recv) bool {
	if !r.posted {
		return false
	}
	c.unpost(r)
	if r.Tag == Any {
		c.reexamine()
	}
	return true
}

func (c *Context) unpost(r *Recv) {
	r.posted = false
	c.posted[kindOf(r.Source, r.Tag)]--
	c.table.find(key(r.Source, r.Tag)).posted.remove(r)
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
	b := c.table.find(key(source, tag))
	if b == nil {
		return nil
	}
	kind := kindOf(source, tag)
	m := b.messages.head
	if kind&anyTag != 0 || c.posted[anyTag]+c.posted[anyBoth] == 0 {
		// What is seq-ready fits no posted receive, or it would have matched;
		// the same goes for every message while no receive names any tag.
		return m
	}
	for ; m != nil; m = m.links[kind].next {
		if m.seqReady || c.firstFit(m.Source, m.Tag) == nil {
			return m
		}
		if kind == exact {
			return nil // the younger ones are held by the same receive
		}
	}
	return nil
}

// EachPosted calls f for every posted receive, in no particular order, until f
// returns false. F must not change the context.
func (c *Context) EachPosted(f func(*Recv) bool) {
	for i := range c.table.buckets {
		for r := c.table.buckets[i].posted.head; r != nil; r = r.next {
			if !f(r) {
				return
			}
		}
	}
}

// Relax lets receives for any tag take messages in the order of arrival from
// now on, whatever older ones are missing.
func (c *Context) Relax() {
	if c.relaxed {
		return
	}
	c.relaxed = true
	for m := c.tagOnly.head; m != nil; {
		next := m.links[tagOnly].next
		m.seqReady = true
		c.admit(m)
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
	for m := c.tagOnly.head; m != nil; m = c.tagOnly.head {
		discard(m)
	}
	for m := c.Probe(Any, Any); m != nil; m = c.Probe(Any, Any) {
		discard(m)
	}
}
