package conformance

import (
	"bytes"
	"math/rand/v2"
	"sync"
)

// period is the length after which a payload repeats: a prime, so that a piece
// that went astray is not taken for the one that belongs there.
const period = 1<<20 + 7

// A pattern is what payloads are made of: noise, twice, so that any stretch of
// up to a period can be had as one slice. It is made when it is first used: each
// process of the command strand, and there are many, has this package.
type pattern struct{ twice func() []byte }

var noise = pattern{sync.OnceValue(makeNoise)}

func makeNoise() []byte {
	p := make([]byte, 2*period)
	src := rand.NewChaCha8([32]byte{'n', 'o', 'i', 's', 'e'})
	_, _ = src.Read(p[:period]) // never fails
	copy(p[period:], p[:period])
	return p
}

// at returns up to a period of the payload of frame id, from byte offset on.
func (p pattern) at(id uint64, offset int) []byte {
	start := (id%period*7919 + uint64(offset)) % period
	return p.twice()[start : start+period]
}

// fill writes the payload of frame id, from byte offset on.
func (p pattern) fill(dst []byte, id uint64, offset int) {
	for len(dst) > 0 {
		n := copy(dst, p.at(id, offset))
		dst, offset = dst[n:], offset+n
	}
}

// differs returns the first place at which b is not the payload of frame id from
// byte offset on, or -1.
func (p pattern) differs(b []byte, id uint64, offset int) int {
	for done := 0; done < len(b); {
		want := p.at(id, offset+done)
		n := min(len(want), len(b)-done)
		if !bytes.Equal(b[done:done+n], want[:n]) {
			for i := range n {
				if b[done+i] != want[i] {
					return done + i
				}
			}
		}
		done += n
	}
	return -1
}

var junk = scribbled(1 << 16)

// scribbled is new memory that is scribbled over. It is not cleared before, as that of make is.
func scribbled(n int) []byte { return bytes.Repeat([]byte{0xEE}, n) }

// scribble overwrites memory that its owner has back.
func scribble(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, junk):]
	}
}

// unscribbled reports whether b is not as scribble left it.
func unscribbled(b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), len(junk))
		if !bytes.Equal(b[:n], junk[:n]) {
			return true
		}
		b = b[n:]
	}
	return false
}
