package coll

import "math/bits"

// An order says which values of ranks 0 to n−1 are combined first. What is rounded depends on that. So values of an operation that is not
// commutative are combined in the same pairs whichever way a call goes, by messages or by memory.
type order struct {
	op    Op
	n     int
	extra int // pairs of ranks, the first ones, that stand for one
}

// inTree is the order of reduceBinomial, of what is scattered then, and of scan.
func inTree(op Op, n int) order { return order{op, n, 0} }

// inCore is that of allreduceDoubling.
func inCore(op Op, n int) order { return order{op, n, n - below(n)} }

// rooms is how many buffers as long as the result fold takes, if values are read into them.
func (o order) rooms() int {
	if o.op.Commutative {
		return 1
	}
	return 1 + bits.Len(uint(o.leaves()))
}

// leaves is how many there are that stand for one rank or two.
func (o order) leaves() int { return o.n - o.extra }

// ranks are those that one stands for.
func (o order) ranks(leaf int) (from, to int) {
	if leaf < o.extra {
		return 2 * leaf, 2*leaf + 2
	}
	return leaf + o.extra, leaf + o.extra + 1
}

// fold combines all values into acc. Value returns one. It may use the memory that it is given for that, which is as long as acc at least.
func (o order) fold(acc, room []byte, value func(rank int, room []byte) ([]byte, error)) error {
	if o.op.Commutative || o.n == 0 {
		return o.row(acc, room, 0, o.n, value)
	}
	span := 1
	for span < o.leaves() {
		span *= 2
	}
	return o.tree(acc, room, 0, span, value)
}

// tree combines so many leaves from one on: the first half, and with that the second, as far as there is one.
func (o order) tree(acc, room []byte, first, span int, value func(rank int, room []byte) ([]byte, error)) error {
	if span == 1 {
		from, to := o.ranks(first)
		return o.row(acc, room, from, to, value)
	}
	half := span / 2
	if err := o.tree(acc, room, first, half, value); err != nil || first+half >= o.leaves() {
		return err
	}
	other := room[:len(acc)]
	if err := o.tree(other, room[len(acc):], first+half, half, value); err != nil {
		return err
	}
	o.op.Fold(acc, other, false)
	return nil
}

// row combines one after the other.
func (o order) row(acc, room []byte, from, to int, value func(rank int, room []byte) ([]byte, error)) error {
	for rank := from; rank < to; rank++ {
		into := room
		if rank == from {
			into = acc
		}
		b, err := value(rank, into)
		if err != nil {
			return err
		}
		if rank == from {
			fill(acc, b)
		} else {
			o.op.Fold(acc, b, false)
		}
	}
	return nil
}
