package programs

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// memory is what a program's limits allow buffered sends to take.
type memory struct {
	buffered int // pml_buffered_max
	credit   int // for unexpected messages of one peer, at most
}

const (
	// leastPerSend is less than what a buffered send takes while it is under way, whatever
	// its length: its operation alone is more.
	leastPerSend = 128
	// perUnexpected is what an unexpected message is charged, if it is empty
	// (docs/ARCHITECTURE.md, Credit).
	perUnexpected = 448
)

// sends is how many buffered sends of a length may be accepted by a process that has none
// under way, to one that receives nothing.
func (m memory) sends(size int) int {
	return m.buffered/(leastPerSend+size) + m.credit/(perUnexpected+size)
}

// flood makes buffered sends until there is no room for more. Their destination receives none
// of them before the flood is over. The messages that are left are sent in the standard mode.
func (r *rank) flood(s *step) error {
	c, to := r.comms[s.comm], r.program.comms[s.comm].rank(s.flood[0].to)
	accepted, full := 0, false
	for _, m := range s.flood {
		one := &step{message: m, bits: s.bits, comm: s.comm, mode: modeBuffered}
		b := r.letter(one)
		if !full {
			handle, err := c.Ibsend(b.memory, to, m.tag)
			if err == nil {
				accepted++
				r.requests = append(r.requests, &request{handle: handle, buffer: b, message: m, mode: modeBuffered})
				continue
			}
			if !errors.Is(err, strand.ErrBuffer) {
				return err
			}
			full = true
			r.tally.NoBuffer++
		}
		handle, err := c.Isend(b.memory, to, m.tag)
		if err != nil {
			return err
		}
		r.requests = append(r.requests, &request{handle: handle, buffer: b, message: m})
	}
	r.tally.Floods++
	if accepted > s.fits {
		return fmt.Errorf("%d buffered sends of %d bytes were accepted, though their memory allows for %d at most", accepted, s.flood[0].size, s.fits)
	}
	return nil
}

// flood adds a flood. It is to a rank that can have received nothing of it before it is over:
// it comes at the beginning of a phase, and all members of the communicator wait for its end.
func (g *generator) flood() {
	c := g.comm()
	from, to := g.member(c), g.member(c)
	if from == to || g.bytes < 100*maxIndex {
		return
	}
	size := []int{0, 0, 1, 100}[g.IntN(4)]
	s := &step{kind: stepFlood, rank: from, comm: c.id, fits: g.shape.memory.sends(size)}
	for range maxIndex {
		m := g.letterOf(c, from, to, size)
		if m == nil {
			break
		}
		s.flood = append(s.flood, m)
	}
	if len(s.flood) == 0 {
		return
	}
	g.bytes -= size * len(s.flood)
	g.add(s)
	g.add(&step{kind: stepBarrier, comm: c.id})
}
