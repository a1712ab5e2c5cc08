package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Errors of [Layout.Disjoint].
var (
	ErrOverlap = errors.New("some of its memory belongs to two places of the message")
	// ErrUnclear: it would take too long to find out.
	ErrUnclear = fmt.Errorf("whether some of its memory belongs to two places of the message is not known: it is irregular, and has more than %d blocks", mostBlocks)
)

// mostBlocks is how many blocks are compared at most.
const mostBlocks = 1 << 22

const (
	unknown = iota
	disjoint
	overlaps
	unclear
)

// Disjoint returns nil if no byte of memory belongs to two places of the message: then it can be received. What it has found
// out it remembers.
func (l *Layout) Disjoint() error {
	state := l.overlap.Load()
	if state == unknown {
		state = l.judge()
		l.overlap.Store(state)
	}
	switch state {
	case overlaps:
		return ErrOverlap
	case unclear:
		return ErrUnclear
	}
	return nil
}

func (l *Layout) judge() uint32 {
	switch {
	case l.crammed():
		return overlaps
	case l.apart():
		return disjoint
	case l.blocks > mostBlocks:
		return unclear
	case l.collides():
		return overlaps
	}
	return disjoint
}

// crammed reports whether the message has more bytes than the memory that they lie in. False says nothing.
func (l *Layout) crammed() bool {
	return uint(l.size) > uint(l.high)-uint(l.low) // which an int may not hold
}

// apart reports whether it can be seen from the description that nothing overlaps. False says nothing.
func (l *Layout) apart() bool {
	switch {
	case l.runs != nil:
		return separate(l.runs)
	case l.parts != nil:
		spans := make([]Block, len(l.parts))
		for i, p := range l.parts {
			spans[i] = Block{p.low, p.high - p.low}
			if !p.apart() {
				return false
			}
		}
		return separate(spans)
	}
	return l.nested()
}

// nested is apart for repetitions of repetitions, in any order: seen from the shortest stride to the longest, each is at
// least as long as all that is repeated.
func (l *Layout) nested() bool {
	type loop struct{ count, stride int }
	var loops []loop
	for ; l.inner != nil; l = l.inner {
		loops = append(loops, loop{l.count, max(l.stride, -l.stride)})
	}
	if !l.plain() && !l.apart() {
		return false
	}
	slices.SortFunc(loops, func(a, b loop) int { return cmp.Compare(a.stride, b.stride) })
	span := l.high - l.low
	for _, r := range loops {
		if r.stride < span {
			return false
		}
		span += (r.count - 1) * r.stride
	}
	return true
}

// separate reports whether no two of the blocks overlap.
func separate(blocks []Block) bool {
	byPlace := func(a, b Block) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(blocks, byPlace) {
		blocks = slices.SortedFunc(slices.Values(blocks), byPlace)
	}
	for i := 1; i < len(blocks); i++ {
		if blocks[i-1].At+blocks[i-1].Size > blocks[i].At {
			return false
		}
	}
	return true
}

// collides compares all blocks.
func (l *Layout) collides() bool {
	all := make([]Block, 0, l.blocks)
	l.each(0, func(b Block) { all = append(all, b) })
	return !separate(all)
}

// each calls do for each block, in the order of the message.
func (l *Layout) each(at int, do func(Block)) {
	at += l.at
	switch {
	case l.inner != nil:
		for i := range l.count {
			l.inner.each(at+i*l.stride, do)
		}
	case l.runs != nil:
		for _, b := range l.runs {
			do(Block{at + b.At, b.Size})
		}
	case l.parts != nil:
		for _, p := range l.parts {
			p.each(at, do)
		}
	case l.size > 0:
		do(Block{at, l.size})
	}
}
