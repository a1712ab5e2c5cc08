package match

// EachWaiting calls f for each message that waits for a receive. It is for reports: it looks
// through all of them.
func (c *Context) EachWaiting(f func(*Message)) {
	for place := c.queue.head; place != c.queue.tail; place++ {
		if m := *c.queue.at(place); m != nil {
			f(m)
		}
	}
	for m := c.tagOnly; m != nil; m = m.links[tagOnly].next {
		f(m)
	}
}

// Next is the number of the sender's first message that has not arrived.
func (ch *Channel) Next() uint32 { return ch.next }
