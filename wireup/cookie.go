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

// keyTime is how long cookies are made with one key. They are accepted for as long again, so a
// cookie is good for half a minute at least and for a minute at most.
const keyTime = 30 * time.Second

// Cookie is for a transport of datagrams. The transport calls it before [Manager.Came], for the
// first message of an attempt that it does not know. A cookie shows that the sender receives at the
// address that it names. Until a stranger has shown one nothing is kept for it, however many
// strangers there are.
//
// Shown is the cookie that came with the message; it may be empty. If it is not good the transport
// sends the answer back and nothing else. The side that gets the answer shows it in all that it
// sends again ([Pending.Again]). Room is how long the answer may be, so that its datagram is no
// longer than the one that it answers. The answer is nil if room is less than [CookieSize]. It is
// valid until the next call.
//
// A cookie is good for one address, one port and one attempt. Attempt is the transport's
// identifier of that attempt. Nobody may be able to guess it: otherwise others could ask the
// connecting side for its hello.
func (m *Manager) Cookie(from netip.AddrPort, attempt, shown []byte, room int) (answer []byte, good bool) {
	return m.cookies.check(m.loop.Now(), from, attempt, shown, room)
}

// cookies makes and knows cookies. A cookie is the number of its key, and a proof under that key
// over whom it is for:
//
//	0  1  number of the key
//	1 15  HMAC-SHA256 over address and port (18 bytes) and the attempt, cut off
//
// A cookie ends with its key, so it need not say when it was made.
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

// renew replaces keys that have been in use for their time.
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
