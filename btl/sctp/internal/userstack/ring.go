package userstack

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	firstRing = 64 << 10
	// maxRing bounds the bytes of packets that wait for pion. When it is full, further
	// packets stay in the system's buffer.
	maxRing  = 256 << 10
	packLen  = 4
	ringMask = 3
)

// A ring holds packets in the order in which they came, in memory that grows as
// it is needed. An empty one has none.
type ring struct {
	buf    []byte
	home   *[]byte // buf, as it goes back to its pool
	lo, hi int     // positions that only rise while there are packets; taken modulo len(buf)
}

// rings are memory for rings of all associations, by the logarithm of its size.
var rings [bits.UintSize]sync.Pool

func newRing(size int) ring {
	home, ok := rings[bits.Len(uint(size))].Get().(*[]byte)
	if !ok {
		b := make([]byte, size)
		home = &b
	}
	return ring{buf: *home, home: home}
}

// release gives the memory back.
func (r *ring) release() {
	if r.home != nil {
		rings[bits.Len(uint(len(r.buf)))].Put(r.home)
	}
	*r = ring{}
}

func (r *ring) empty() bool { return r.lo == r.hi }

// push appends a packet and reports whether there was room.
func (r *ring) push(b []byte) bool {
	need := packLen + (len(b)+ringMask)&^ringMask
	for len(r.buf)-(r.hi-r.lo) < need {
		if len(r.buf) >= maxRing {
			return false
		}
		r.grow()
	}
	var head [packLen]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(b)))
	r.put(r.hi, head[:])
	r.put(r.hi+packLen, b)
	r.hi += need
	return true
}

// pop copies the oldest packet to b, as far as it fits.
func (r *ring) pop(b []byte) int {
	var head [packLen]byte
	r.get(r.lo, head[:])
	n := int(binary.LittleEndian.Uint32(head[:]))
	size := min(n, len(b))
	r.get(r.lo+packLen, b[:size])
	r.lo += packLen + (n+ringMask)&^ringMask
	if r.empty() {
		r.release()
	}
	return size
}

func (r *ring) grow() {
	bigger := newRing(max(2*len(r.buf), firstRing))
	bigger.hi = r.hi - r.lo
	if bigger.hi > 0 {
		r.get(r.lo, bigger.buf[:bigger.hi])
	}
	r.release()
	*r = bigger
}

func (r *ring) put(at int, b []byte) {
	at &= len(r.buf) - 1
	n := copy(r.buf[at:], b)
	copy(r.buf, b[n:])
}

func (r *ring) get(at int, b []byte) {
	at &= len(r.buf) - 1
	n := copy(b, r.buf[at:])
	copy(b[n:], r.buf)
}
