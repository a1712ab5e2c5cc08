package pml

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits
	// keptChunks is how many chunks are kept for reuse whatever is needed: 8192
	// operations, some 3 MB. What a peak has needed beyond that is given back.
	keptChunks = 32
)

// chunk is the operations of one place in the slab.
type chunk [chunkSize]operation

// operations is the slab. Operations are found by their numbers, which are places in
// chunks.
type operations struct {
	chunks []*chunk // nil where one was given back
	gens   []uint32 // beside them: the first generation of the next chunk in this place
	holes  []int    // places without a chunk
	free   *operation
	used   int
	low    int // when no more than so many are in use chunks are given back
}

func (p *PML) newOperation() *operation {
	s := &p.ops
	if s.free == nil {
		s.grow(p)
	}
	op := s.free
	s.free = op.next
	s.used++
	op.next = nil
	op.active = true
	return op
}

// grow makes a chunk. Generations go on where those of an earlier chunk in the same place
// have ended, so that no handle that a peer still has names a new operation.
func (s *operations) grow(p *PML) {
	at := len(s.chunks)
	if n := len(s.holes); n > 0 {
		at, s.holes = s.holes[n-1], s.holes[:n-1]
	} else {
		s.chunks, s.gens = append(s.chunks, nil), append(s.gens, 0)
	}
	c := new(chunk)
	for i := range c {
		op := &c[i]
		op.pml, op.index, op.gen = p, uint32(at<<chunkBits+i), s.gens[at]
		op.recv.Owner = op
	}
	s.chunks[at] = c
	s.offer(c)
	s.lower()
}

// offer puts those operations of a chunk that are free on the list, the first one first.
func (s *operations) offer(c *chunk) {
	for i := chunkSize - 1; i >= 0; i-- {
		if op := &c[i]; !op.active {
			op.next, s.free = s.free, op
		}
	}
}

// freeOperation ends the life of an operation; handles to it become stale.
func (p *PML) freeOperation(op *operation) {
	s := &p.ops
	clear(op.sets)
	gen, sets := op.gen+1, op.sets[:0]
	if op.isSend || op.other {
		op.sending = sending{}
	}
	op.life = life{} // in place: a literal with values is made elsewhere, and then copied
	op.gen, op.next, op.sets = gen, s.free, sets
	op.recv.Owner = op
	s.free = op
	if s.used--; s.used <= s.low {
		s.shrink()
	}
}

// lower sets how few operations have to be in use for chunks to be given back again: a quarter
// of those that there are, and half of those in use now, whichever is less. So all operations
// are looked at seldom.
func (s *operations) lower() {
	s.low = -1
	if n := len(s.chunks) - len(s.holes); n > keptChunks {
		s.low = min(n*chunkSize/4, s.used/2)
	}
}

// shrink gives back the chunks of which no operation is in use, but for those that are
// kept.
func (s *operations) shrink() {
	s.free = nil
	kept := len(s.chunks) - len(s.holes)
	for at, c := range s.chunks {
		switch {
		case c == nil:
		case kept > keptChunks && c.vacant():
			s.giveBack(at)
			kept--
		default:
			s.offer(c)
		}
	}
	s.lower()
}

func (c *chunk) vacant() bool {
	for i := range c {
		if c[i].active {
			return false
		}
	}
	return true
}

// giveBack forgets a chunk of which no operation is in use, or on the list.
func (s *operations) giveBack(at int) {
	c := s.chunks[at]
	for i := range c {
		s.gens[at] = max(s.gens[at], c[i].gen)
	}
	s.chunks[at] = nil
	s.holes = append(s.holes, at)
}

// lookup finds the operation of a handle that came from a peer, or nil if it has
// ended or never was.
func (p *PML) lookup(handle uint64, from *peer, isSend bool) *operation {
	i := uint32(handle)
	if int(i>>chunkBits) >= len(p.ops.chunks) || p.ops.chunks[i>>chunkBits] == nil {
		return nil
	}
	op := &p.ops.chunks[i>>chunkBits][i&(chunkSize-1)]
	if !op.active || op.done || op.gen != uint32(handle>>32) || op.peer != from || op.isSend != isSend {
		return nil
	}
	return op
}

// eachOperation calls f for every operation that is not done.
func (p *PML) eachOperation(f func(*operation)) {
	for _, c := range p.ops.chunks {
		if c == nil {
			continue
		}
		for i := range c {
			if op := &c[i]; op.active && !op.done {
				f(op)
			}
		}
	}
}
