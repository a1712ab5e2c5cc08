package emulate

import (
	"math/rand/v2"
	"time"
)

// A path is the state of a Path. Each kind of chance has a generator of its own, which is asked
// for every frame. So none of them shifts the others.
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

// Sizes of what a frame carries behind its header, in bytes: Ethernet's, the least that IPv4 asks
// for, and the most that a veth takes.
const (
	DefaultMTU = 1500
	MinMTU     = 576
	MaxMTU     = 65535
)

// EthernetHeader is the bytes before what may be damaged.
const EthernetHeader = 14

// next decides what becomes of the next frame, which leaves its sender at a time. cut says that
// the network is down then. The generators are asked all the same, so an outage changes nothing
// for the frames after it.
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
