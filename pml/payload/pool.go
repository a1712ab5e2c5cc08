package payload

import "math/bits"

// A Pool keeps buffers for reuse: those that hold unexpected data and those that
// hold copies for replay. Sizes are rounded up to a class, two classes for each
// power of two, so that at most a third of a buffer is wasted.
type Pool struct {
	// Limit bounds the bytes that are kept for reuse.
	Limit int

	free   [poolClasses][][]byte
	cached int // bytes in free
}

// Smallest is the length of the smallest buffer.
const Smallest = 1 << minClassBits

const (
	minClassBits = 6
	maxClassBits = 20
	poolClasses  = 2*(maxClassBits-minClassBits) + 1
)

// classOf returns the class for n bytes and its size; n is at most 1 MB.
func classOf(n int) (class, size int) {
	if n <= Smallest {
		return 0, Smallest
	}
	b := bits.Len(uint(n - 1)) // 2^(b−1) < n ≤ 2^b
	if mid := 3 << (b - 2); n <= mid {
		return 2*(b-minClassBits) - 1, mid
	}
	return 2 * (b - minClassBits), 1 << b
}

// Takes is how much memory a buffer of n bytes takes.
func Takes(n int) int {
	if n == 0 || n > 1<<maxClassBits {
		return n
	}
	_, size := classOf(n)
	return size
}

// Get returns a buffer of n bytes with undefined contents; nil for 0.
func (p *Pool) Get(n int) []byte {
	if n == 0 {
		return nil
	}
	if n > 1<<maxClassBits {
		return make([]byte, n)
	}
	class, size := classOf(n)
	if l := p.free[class]; len(l) > 0 {
		b := l[len(l)-1]
		l[len(l)-1] = nil
		p.free[class] = l[:len(l)-1]
		p.cached -= size
		return b[:n]
	}
	return make([]byte, n, size)
}

// Put takes a buffer back. Nobody may use it any more.
func (p *Pool) Put(b []byte) {
	n := cap(b)
	if n == 0 || n > 1<<maxClassBits || p.cached+n > p.Limit {
		return
	}
	if class, size := classOf(n); size == n {
		p.free[class] = append(p.free[class], b[:0:n])
		p.cached += n
	}
}
