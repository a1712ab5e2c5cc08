package chaos

import "encoding/binary"

// Madden has a rank go mad: beside what its message layer sends, it sends what makes no sense.
func (c *Component) Madden(rank int) {
	for _, m := range c.modules.Modules() {
		m.post(func() { m.lies = m.lies || m.host.Rank() == rank })
	}
}

// lie sends, at times, what a peer that has gone mad might send: beside a frame, the same frame
// with one number in its header changed. It changes mostly one of the first numbers, and by
// little, so that the receiver does not find out at once. What the numbers mean is not known
// here.
func (e *endpoint) lie(p *packet) {
	r := e.m.random
	if r.IntN(4) > 0 {
		return
	}
	wrong := append([]byte(nil), p.header...)
	at := 4 * r.IntN(min(4, len(wrong)/4))
	if r.IntN(8) == 0 {
		at = 4 * r.IntN(len(wrong)/4)
	}
	word := binary.LittleEndian.Uint32(wrong[at:])
	switch r.IntN(10) {
	case 0:
		word = r.Uint32()
	case 1:
		word = 0
	case 2:
		word ^= 1 << r.IntN(32)
	case 3:
		word -= uint32(r.IntN(100))
	default:
		word += 1 + uint32(r.IntN(6))
	}
	binary.LittleEndian.PutUint32(wrong[at:], word)
	e.dispatch(&packet{header: wrong, size: p.size, lane: p.lane, payload: p.bytes()})
}
