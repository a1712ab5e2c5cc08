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

// Abandon hands to unwanted the messages of a sender that have not become ready. The older
// messages that they wait for will not come.
func (c *Context) Abandon(source int32, unwanted func(*Message)) {
	if ch := c.channels[source]; ch != nil {
		ch.abandon(unwanted)
	}
}

func (ch *Channel) abandon(unwanted func(*Message)) {
	for _, m := range ch.early {
		if m != nil && !m.tagReady {
			ch.context.take(m)
			unwanted(m)
		}
	}
}

// End completes Discard, which comes first. It hands the messages that have not become ready to
// unwanted too, and forgets the numbers that are known beyond gaps: nobody asks for them any
// more.
func (c *Context) End(unwanted func(*Message)) {
	for _, ch := range c.channels {
		ch.abandon(unwanted)
		ch.release()
	}
}

// release forgets the numbers that are known beyond a gap.
func (o *order) release() {
	if o.sender != nil {
		o.sender.early -= len(o.early)
	}
	clear(o.early) // it stays a map: a message that was received may come back yet
}
