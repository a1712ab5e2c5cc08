package delivery

import (
	"fmt"
	"slices"
)

// spans are stretches of bytes, in order and apart from each other.
type spans []span

type span struct{ from, to int }

// maxSpans bounds the gaps that a peer can make us remember within one frame.
const maxSpans = 1 << 12

// add notes the bytes between from and to.
func (s *spans) add(from, to int) error {
	// Those that touch it are those between i and j, and become one with it.
	i, _ := slices.BinarySearchFunc(*s, from, func(sp span, from int) int { return sp.to - from })
	j := i
	for j < len(*s) && (*s)[j].from <= to {
		from, to = min(from, (*s)[j].from), max(to, (*s)[j].to)
		j++
	}
	if i == j && len(*s) >= maxSpans {
		return fmt.Errorf("parts that leave more than %d gaps in a frame", maxSpans)
	}
	*s = slices.Replace(*s, i, j, span{from, to})
	return nil
}

// is reports whether they are all bytes below n.
func (s spans) is(n int) bool { return len(s) == 1 && s[0] == span{0, n} }
