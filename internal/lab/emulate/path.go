package emulate

import (
	"math/rand/v2"
	"time"
)

// A path is the state of a Path. Everything that chance decides has a generator
// of its own, and asks it for every frame, so that none shifts the others.
type path struct {
	Path
	loss lossState

	jitter, reorder, duplicate, corrupt *rand.Rand

	last  time.Duration // the latest arrival of a frame that was not held back
	count Counters
}

// Numbers of the generators of a path. Never reuse or renumber: seeds are published
// with results.
const (
	ofLoss = iota
	ofJitter
	ofReorder
	ofDuplicate
	ofCorrupt
)

func newPath(p Path, seed uint64, from, to int) *path {
	chance := func(of uint64) *rand.Rand {
		return rand.New(rand.NewPCG(seed, uint64(from)<<40|uint64(to)<<16|of))
	}
	if p.ReorderBy == 0 {
		p.ReorderBy = DefaultReorderBy
	}
	return &path{
		Path: p, loss: lossState{Loss: p.Loss, rng: chance(ofLoss)},
		jitter: chance(ofJitter), reorder: chance(ofReorder), duplicate: chance(ofDuplicate), corrupt: chance(ofCorrupt),
	}
}

// A fate is what happens to a frame.
type fate struct {
	copies int           // 0: lost; 2: doubled
	bit    int           // flipped, counted from the end of the Ethernet header; -1: none
	arrive time.Duration // at the receiver's queue
}

// What frames may carry besides that: Ethernet's, and the bounds of what IPv4 asks for and a
// veth takes.
const (
	DefaultMTU = 1500
	MinMTU     = 576
	MaxMTU     = 65535
)

// EthernetHeader is the bytes before what may be damaged.
const EthernetHeader = 14

// next decides on the next frame, which leaves its sender at a time. One that is cut meets a
// network that is down.
func (p *path) next(leaves time.Duration, size int, cut bool) fate {
	f := fate{copies: 1, bit: -1, arrive: leaves + p.Delay}
	if p.loss.next() {
		f.copies = 0
	}
	if p.Jitter > 0 {
		f.arrive += time.Duration(p.jitter.Int64N(2*int64(p.Jitter)+1)) - p.Jitter
	}
	twice := p.Duplicate > 0 && p.duplicate.Float64() < p.Duplicate
	damaged := p.Corrupt > 0 && p.corrupt.Float64() < p.Corrupt
	where := 0.0
	if p.Corrupt > 0 {
		where = p.corrupt.Float64()
	}
	late := p.Reorder > 0 && p.reorder.Float64() < p.Reorder

	switch {
	case cut:
		f.copies = 0
		p.count.Cut++
		return f
	case f.copies == 0:
		p.count.Lost++
		return f
	}
	if twice {
		f.copies = 2
		p.count.Duplicated++
	}
	if bits := (size - EthernetHeader) * 8; damaged && bits > 0 {
		f.bit = int(where * float64(bits))
		p.count.Corrupted++
	}
	f.arrive = max(f.arrive, p.last)
	p.last = f.arrive
	if late {
		f.arrive += p.ReorderBy
		p.count.Reordered++
	}
	return f
}
