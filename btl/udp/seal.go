package udp

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// Values of btl_udp_protect.
const (
	protectNone = iota
	protectAuthenticated
	protectEncrypted
)

var protections = []string{"none", "authenticated", "encrypted"}

func secrecyOf(protect int) btl.Secrecy {
	if protect == protectEncrypted {
		return btl.Encrypted
	}
	return btl.Clear
}

// A guard protects the packets of one connection by AES-128-GCM. A packet's number is its nonce, so none
// comes twice. What is only authenticated is additional data (GMAC).
type guard struct {
	how      int
	overhead int
	out, in  [2]direction // of DATA and ANSWER, whose numbers are two counts
	nonce    [12]byte
}

// generation is how many packets are sealed with one key, as a power of two. RFC 9001, appendix B.1, allows
// 2^23 packets of 2^14 bytes; packets of 64 KB are four times as long.
const generation = 21

// A direction has its keys: each packet's number says which. Two of them are kept, since packets overtake
// each other, and the one that comes next, which a packet that it opens brings into use: whoever invents
// numbers makes none grow old.
type direction struct {
	derive  func(generation uint64) (cipher.AEAD, error)
	newest  uint64
	ciphers [2]cipher.AEAD // of even and odd generations
	next    cipher.AEAD    // of the one after the newest, if it was asked for
}

func (ep *endpoint) newGuard() (*guard, error) {
	g := &guard{how: ep.m.cfg.protect}
	if g.how == protectNone {
		return g, nil
	}
	g.overhead = sealSize
	names := [2]string{"opener to acceptor", "acceptor to opener"}
	if !ep.Opened() {
		names[0], names[1] = names[1], names[0]
	}
	for i, both := range []*[2]direction{&g.out, &g.in} {
		derive := func(n uint64) (cipher.AEAD, error) {
			key, err := ep.Key(fmt.Sprintf("udp %s %d", names[i], n))
			if err != nil {
				return nil, err
			}
			block, err := aes.NewCipher(key[:16])
			if err != nil {
				return nil, err
			}
			return cipher.NewGCM(block)
		}
		if err := begin(both, derive); err != nil {
			return nil, fmt.Errorf("AES-GCM: %w", err)
		}
	}
	return g, nil
}

// begin gives both counts their first key, which is the same: what a nonce begins with tells them apart.
func begin(both *[2]direction, derive func(uint64) (cipher.AEAD, error)) error {
	first, err := derive(0)
	for i := range both {
		both[i] = direction{derive: derive, ciphers: [2]cipher.AEAD{first}}
	}
	return err
}

// countOf is which of the two counts a packet's number is of.
func countOf(b []byte) int {
	if b[0] == kindAnswer {
		return 1
	}
	return 0
}

// of returns the cipher for a packet; nil: there is none. One is made for the generation after the newest only,
// and once, so that whoever invents numbers costs nothing.
func (d *direction) of(number uint64) cipher.AEAD {
	n := number >> generation
	switch {
	case n == d.newest, n+1 == d.newest:
		return d.ciphers[n%2]
	case n != d.newest+1:
		return nil
	case d.next == nil:
		d.next, _ = d.derive(n)
	}
	return d.next
}

// used notes that the cipher of a number is in use: it may be the next one.
func (d *direction) used(number uint64) {
	if n := number >> generation; n == d.newest+1 {
		d.newest, d.ciphers[n%2], d.next = n, d.next, nil
	}
}

// nonceOf is a packet's nonce, and what its number is in the keys' count. Data and answers have numbers of
// their own.
func (g *guard) nonceOf(b []byte) (nonce []byte, number uint64) {
	number = order.Uint64(b[nameSize:])
	g.nonce[0] = b[0]
	order.PutUint64(g.nonce[4:], number)
	return g.nonce[:], number
}

// seal protects a packet in place, where there is room for its proof, and returns it with that.
func (g *guard) seal(b []byte) []byte {
	if g.how == protectNone {
		return b
	}
	nonce, number := g.nonceOf(b)
	d := &g.out[countOf(b)]
	c := d.of(number)
	d.used(number)
	if g.how == protectAuthenticated {
		return c.Seal(b, nonce, nil, b)
	}
	return c.Seal(b[:headSize], nonce, b[headSize:], b[:headSize])
}

// open checks a packet, and returns its items, which take the packet's place. It reports false for one
// that is not the peer's.
func (g *guard) open(b []byte) (items []byte, good bool) {
	if g.how == protectNone {
		return b[headSize:], true
	}
	nonce, number := g.nonceOf(b)
	end := len(b) - sealSize
	d := &g.in[countOf(b)]
	c := d.of(number)
	if c == nil || end < headSize {
		return nil, false
	}
	var err error
	if g.how == protectAuthenticated {
		items = b[headSize:end]
		_, err = c.Open(nil, nonce, b[end:], b[:end])
	} else {
		items, err = c.Open(b[headSize:headSize], nonce, b[headSize:], b[:headSize])
	}
	if err != nil {
		return nil, false
	}
	d.used(number)
	return items, true
}
