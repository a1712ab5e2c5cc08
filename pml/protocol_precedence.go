package pml

// Long messages to one peer share what carries them. If they took turns those that have begun together would end together. A program
// that sends one after the other, some at a time, would then ask with all of them at the same time, and nothing would go until the
// answers are there: over a long way that is a part of each round. So the oldest goes first. Every other piece is of the one that
// has the least left: a short message does not wait for a long one, nor a long one for ever for short ones.

// mostCompared is how many of the oldest are compared.
const mostCompared = 16

// nextStream is the cleared send that the next piece is cut of, or nil if none can be cut now.
func (pe *peer) nextStream(q *opQueue) *operation {
	packs := pe.mayPack()
	var next *operation
	compared := 0
	for op := q.head; op != nil && compared < mostCompared; op = op.next {
		if op.packs && !packs {
			continue
		}
		if compared++; next == nil || op.left() < next.left() {
			next = op
		}
		if !q.shortest {
			break
		}
	}
	if next == nil && q.head != nil {
		pe.unpacking = true
	}
	return next
}

// left is how much of a cleared send is still to be cut.
func (op *operation) left() uint64 { return op.accept - op.offset }

// wasCut notes that a piece was cut of one of the cleared sends.
func (q *opQueue) wasCut(op *operation) {
	q.shortest = !q.shortest
	if op.left() == 0 {
		q.remove(op)
	}
}
