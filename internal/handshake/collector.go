package handshake

// A collector gathers the bytes of one message in a buffer of fixed size: all
// that a handshake costs before the peer has proved itself.
type collector struct {
	have int
	want int
	buf  [blobHead + MaxBlob]byte
}

// expect starts a new message of n bytes.
func (c *collector) expect(n int) { c.have, c.want = 0, n }

// extend says that n more bytes belong to the message at hand.
func (c *collector) extend(n int) { c.want += n }

func (c *collector) need() int { return c.want - c.have }

func (c *collector) bytes() []byte { return c.buf[:c.have] }

// take uses up bytes of b; whole means that the message is complete.
func (c *collector) take(b []byte) (rest []byte, whole bool) {
	n := copy(c.buf[c.have:c.want], b)
	c.have += n
	return b[n:], c.have == c.want
}

// begins reports whether what there is of the message begins with those bytes, as far as it goes.
func (c *collector) begins(magic string) bool {
	n := min(c.have, len(magic))
	return string(c.buf[:n]) == magic[:n]
}
