package layout

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// A Layout says where the bytes of a message lie, counted from where the memory begins. It is a run of bytes, a list of runs,
// a repetition or a sequence of other layouts.
type Layout struct {
	at     int // what is added to all places below
	size   int // bytes of the message
	low    int // the first byte of memory that belongs to it
	high   int // the first one behind those
	blocks int // runs that it consists of

	runs   []Block   // a list of runs
	count  int       // a repetition of inner, so many bytes apart
	stride int       //
	inner  *Layout   //
	parts  []*Layout // a sequence
	ends   []int     // of runs or parts in the message

	overlap atomic.Uint32 // what is known of that: see Disjoint
}

// A Block is a run of bytes.
type Block struct{ At, Size int }

// Run is the layout of n bytes, from where the memory begins.
func Run(n int) *Layout {
	l := &Layout{size: n, high: n}
	if n > 0 {
		l.blocks = 1
	}
	return l
}

// Repeat is the layout of so many times inner, each stride bytes behind the one before. The stride may be negative.
func Repeat(inner *Layout, count, stride int) (*Layout, error) {
	switch {
	case count == 0 || inner.size == 0:
		return Run(0), nil
	case count == 1:
		return inner, nil
	case inner.plain() && stride == inner.size:
		size, ok := times(count, inner.size)
		if high, fits := plus(size, inner.at); ok && fits {
			return &Layout{at: inner.at, size: size, low: inner.at, high: high, blocks: 1}, nil
		}
		return nil, tooMany(count, inner.size)
	}
	size, ok := times(count, inner.size)
	way, fits := times(count-1, stride)
	low, lowFits := plus(inner.low, min(way, 0))
	high, highFits := plus(inner.high, max(way, 0))
	if !ok || !fits || !lowFits || !highFits {
		return nil, tooMany(count, stride)
	}
	blocks, _ := times(count, inner.blocks) // no more than there are bytes
	return &Layout{size: size, low: low, high: high, blocks: blocks, count: count, stride: stride, inner: inner}, nil
}

// At is the layout l, by so many bytes further on.
func At(l *Layout, n int) (*Layout, error) {
	low, lowFits := plus(l.low, n)
	high, highFits := plus(l.high, n)
	if l.size == 0 || n == 0 {
		return l, nil
	}
	if !lowFits || !highFits {
		return nil, fmt.Errorf("a layout of bytes %d to %d, moved by %d: more than an int holds", l.low, l.high, n)
	}
	moved := &Layout{
		at: l.at + n, size: l.size, low: low, high: high, blocks: l.blocks,
		runs: l.runs, count: l.count, stride: l.stride, inner: l.inner, parts: l.parts, ends: l.ends,
	}
	moved.overlap.Store(l.overlap.Load())
	return moved, nil
}

// List is the layout of the blocks, one after the other. Those that follow each other in memory too are joined.
func List(blocks []Block) (*Layout, error) {
	l := &Layout{runs: make([]Block, 0, len(blocks)), ends: make([]int, 0, len(blocks)), low: math.MaxInt, high: math.MinInt}
	for _, b := range blocks {
		if b.Size == 0 {
			continue
		}
		size, ok := plus(l.size, b.Size)
		end, fits := plus(b.At, b.Size)
		if !ok || !fits {
			return nil, tooLong(l.size, b.Size)
		}
		l.size, l.low, l.high = size, min(l.low, b.At), max(l.high, end)
		if last := len(l.runs) - 1; last >= 0 && l.runs[last].At+l.runs[last].Size == b.At {
			l.runs[last].Size += b.Size
			l.ends[last] = size
			continue
		}
		l.runs, l.ends = append(l.runs, b), append(l.ends, size)
	}
	switch l.blocks = len(l.runs); l.blocks {
	case 0:
		return Run(0), nil
	case 1:
		return At(Run(l.size), l.low)
	}
	return l, nil
}

// Join is the layout of the layouts, one after the other.
func Join(layouts []*Layout) (*Layout, error) {
	l := &Layout{low: math.MaxInt, high: math.MinInt}
	var runs []Block
	for _, p := range layouts {
		if p.size == 0 {
			continue
		}
		size, ok := plus(l.size, p.size)
		if !ok {
			return nil, tooLong(l.size, p.size)
		}
		l.size, l.low, l.high = size, min(l.low, p.low), max(l.high, p.high)
		l.parts, l.ends, l.blocks = append(l.parts, p), append(l.ends, size), l.blocks+p.blocks
		if p.plain() {
			runs = append(runs, Block{p.at, p.size})
		}
	}
	switch {
	case len(l.parts) == 0:
		return Run(0), nil
	case len(l.parts) == 1:
		return l.parts[0], nil
	case len(runs) == len(l.parts):
		return List(runs)
	}
	return l, nil
}

// Size is the length of the message in bytes.
func (l *Layout) Size() int { return l.size }

// Bounds are the first byte of memory that belongs to the message, and the first one behind all that do.
func (l *Layout) Bounds() (low, high int) { return l.low, l.high }

// Blocks is how many runs of bytes the message consists of. Some may follow each other.
func (l *Layout) Blocks() int { return l.blocks }

// Plain reports whether the message is one run of bytes.
func (l *Layout) Plain() bool { return l.plain() }

func (l *Layout) plain() bool { return l.inner == nil && l.runs == nil && l.parts == nil }

func plus(a, b int) (int, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

func times(a, b int) (int, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int(low), true
	}
	return int(low), true
}

func magnitude(a int) uint64 {
	if a < 0 {
		return uint64(-int64(a))
	}
	return uint64(a)
}

func tooMany(count, each int) error {
	return fmt.Errorf("%d times %d bytes: more than an int holds", count, each)
}

func tooLong(a, b int) error {
	return fmt.Errorf("%d and %d bytes: more than an int holds", a, b)
}
