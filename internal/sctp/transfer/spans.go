package transfer

// spans are rows of numbers, ascending, apart from each other.
type spans []span

// A span is a row of numbers, both ends included.
type span struct{ first, last uint64 }

// join appends what is in b from a number on, which is above all that is in a.
func (a spans) join(b spans, from uint64) spans {
	for _, x := range b {
		if x.last >= from {
			a = append(a, span{max(x.first, from), x.last})
		}
	}
	return a
}

// minus calls yield for each row of what is in a, not below a number, and not in b.
func (a spans) minus(b spans, from uint64, yield func(first, last uint64)) {
	for _, x := range a {
		x.first = max(x.first, from)
		for len(b) > 0 && b[0].last < x.first {
			b = b[1:]
		}
		for _, y := range b {
			if y.first > x.last {
				break
			}
			if y.first > x.first {
				yield(x.first, y.first-1)
			}
			x.first = y.last + 1
		}
		if x.first <= x.last {
			yield(x.first, x.last)
		}
	}
}
