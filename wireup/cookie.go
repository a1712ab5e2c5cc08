package wireup

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"
)

// CookieSize is the length of a cookie in bytes.
const CookieSize = 16

// keyTime is how long cookies are made with one key. They are taken for as long again, so one
// is good for half a minute at least, and for a minute at most.
const keyTime = 30 * time.Second

// Cookie is for a transport of datagrams, which calls it before [Manager.Came] for the first
// message of an attempt that it does not know. A cookie shows that who sends receives at the
// address it names; until then nothing is kept for it, however many there are.
//
// Shown is the cookie that came with the message, which may be empty. If it is good Cookie says
// so. Otherwise the transport sends the answer back, instead of anything else, and the side that
// is asked shows it in all that it sends again ([Pending.Again]). Room is how long the answer
// may be so that the datagram is no longer than the one it answers; the answer is nil where a
// cookie is longer. The answer is valid until the next call.
//
// A cookie is good for one address, one port and one attempt, which is the identifier that the
// transport has for it: one that nobody can guess, so that nobody else can have the
// connecting side say its hello.
func (m *Manager) Cookie(from netip.AddrPort, attempt, shown []byte, room int) (answer []byte, good bool) {
	return m.cookies.check(m.loop.Now(), from, attempt, shown, room)
}

// cookies makes and knows cookies. A cookie is the number of its key, and a proof under that key
// over whom it is for:
//
//	0  1  number of the key
//	1 15  HMAC-SHA256 over address and port (18 bytes) and the attempt, cut off
//
// Its time is that of its key, which nobody has to be told.
type cookies struct {
	keys   [2]hash.Hash // even and odd numbers: the present one and the one before
	number byte         // of the present one
	since  int64        // when that was made
	buffer [64]byte
	answer [CookieSize]byte
}

func (c *cookies) check(now int64, from netip.AddrPort, attempt, shown []byte, room int) ([]byte, bool) {
	c.renew(now)
	if len(shown) == CookieSize && (shown[0] == c.number || shown[0] == c.number-1) {
		if c.bake(shown[0], from, attempt); hmac.Equal(shown, c.answer[:]) {
			return nil, true
		}
	}
	if room < CookieSize {
		return nil, false
	}
	c.bake(c.number, from, attempt)
	return c.answer[:], false
}

// renew has keys that are as old as they may be.
func (c *cookies) renew(now int64) {
	age := time.Duration(now - c.since)
	switch {
	case c.keys[0] == nil, age >= 2*keyTime:
		c.keys[0], c.keys[1], c.since = newKey(), newKey(), now
	case age >= keyTime:
		c.number++
		c.keys[c.number%2] = newKey()
		c.since += int64(keyTime)
	}
}

func newKey() hash.Hash {
	var key [32]byte
	rand.Read(key[:]) // it never fails (crypto/rand)
	return hmac.New(sha256.New, key[:])
}

// bake makes the answer with one of the keys.
func (c *cookies) bake(number byte, from netip.AddrPort, attempt []byte) {
	addr := from.Addr().As16()
	b := append(c.buffer[:0], addr[:]...)
	b = binary.BigEndian.AppendUint16(b, from.Port())
	mac := c.keys[number%2]
	mac.Reset()
	mac.Write(b)
	mac.Write(attempt)
	c.answer[0] = number
	copy(c.answer[1:], mac.Sum(c.buffer[:0]))
}
