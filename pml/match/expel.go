package match

// Expel forgets a sender, and hands its messages that have not matched to unwanted.
// Nothing more may arrive from it.
func (c *Context) Expel(source int32, unwanted func(*Message)) {
	ch := c.channels[source]
	if ch == nil {
		return
	}
	drop := func(m *Message) {
		c.take(m)
		unwanted(m)
	}
	for m := ch.waiting.first(); m != nil; m = ch.waiting.first() {
		drop(m)
	}
	for _, m := range ch.early {
		if m != nil {
			drop(m)
		}
	}
	ch.release()
	delete(c.channels, source)
	if c.last == ch {
		c.last = nil
	}
}

// End gives back what the context's senders may have known beyond gaps: nobody asks for
// those numbers any more.
func (c *Context) End() {
	for _, ch := range c.channels {
		ch.release()
	}
}

// release forgets the numbers that are known beyond a gap.
func (o *order) release() {
	if o.sender != nil {
		o.sender.early -= len(o.early)
	}
	o.early = nil
}
