package calls

import (
	"fmt"
	"math/rand/v2"

	"github.com/strandmp/strand"
)

// DrawLayout draws a layout of n values. It says in which blocks these lie, in the order of the message, and how
// long a slice is that has them all. The blocks are made beside the layout, and not by it.
func DrawLayout[T any](r *rand.Rand, n int) (l strand.Layout[T], blocks []strand.Block, length int) {
	l, blocks = drawn[T](r, n, 2)
	by := r.IntN(4)
	l = l.At(by)
	blocks = moved(blocks, by)
	if l.Err() != nil {
		panic(fmt.Sprintf("calls: a layout of %d values can not be: %v", n, l.Err()))
	}
	return l, blocks, extent(blocks) + r.IntN(3)
}

// longestColumns is of how many values a layout consists at most that has a block for each of them.
const longestColumns = 10_000

func drawn[T any](r *rand.Rand, n, depth int) (strand.Layout[T], []strand.Block) {
	switch k := r.IntN(4); {
	case n == 0:
		return strand.Indexed[T](), nil
	case k == 0:
		return drawIndexed[T](r, n)
	case k == 1 && n <= longestColumns:
		return drawColumns[T](r, n)
	case k == 2 && depth > 0:
		return drawJoined[T](r, n, depth)
	}
	return drawVector[T](r, n)
}

// drawIndexed places pieces in an order that is not that of the message.
func drawIndexed[T any](r *rand.Rand, n int) (strand.Layout[T], []strand.Block) {
	blocks := make([]strand.Block, 1+r.IntN(min(n, 8)))
	rest := n
	for i := range blocks {
		blocks[i].Len = r.IntN(rest + 1)
		if i == len(blocks)-1 {
			blocks[i].Len = rest
		}
		rest -= blocks[i].Len
	}
	at := 0
	for _, i := range r.Perm(len(blocks)) {
		at += r.IntN(20)
		blocks[i].At = at
		at += blocks[i].Len
	}
	return strand.Indexed[T](blocks...), blocks
}

// drawVector has blocks at one distance, forwards or backwards, and behind them what is left.
func drawVector[T any](r *rand.Rand, n int) (strand.Layout[T], []strand.Block) {
	block := min(n, 1+r.IntN([]int{4, 100, 5000}[r.IntN(3)]))
	if n > longestColumns {
		block = min(n, block+16)
	}
	count, stride := n/block, block+r.IntN(block+20)
	first, step := 0, stride
	if r.IntN(3) == 0 {
		first, step = (count-1)*stride, -stride
	}
	l := strand.Vector[T](count, block, step).At(first)
	blocks := make([]strand.Block, count)
	for i := range blocks {
		blocks[i] = strand.Block{At: first + i*step, Len: block}
	}
	return withRest(l, blocks, count*stride, n-count*block)
}

// drawColumns has the columns of a matrix, one after the other.
func drawColumns[T any](r *rand.Rand, n int) (strand.Layout[T], []strand.Block) {
	rows := 1 + r.IntN(min(n, 64))
	columns := n / rows
	blocks := make([]strand.Block, 0, rows*columns)
	for column := range columns {
		for row := range rows {
			blocks = append(blocks, strand.Block{At: row*columns + column, Len: 1})
		}
	}
	return withRest(strand.Vector[T](rows, 1, columns).Repeat(columns, 1), blocks, rows*columns, n-rows*columns)
}

func withRest[T any](l strand.Layout[T], blocks []strand.Block, at, rest int) (strand.Layout[T], []strand.Block) {
	return strand.Join(l, strand.Contiguous[T](rest).At(at)), append(blocks, strand.Block{At: at, Len: rest})
}

// drawJoined has two layouts, either of which may lie before the other.
func drawJoined[T any](r *rand.Rand, n, depth int) (strand.Layout[T], []strand.Block) {
	half := r.IntN(n + 1)
	a, first := drawn[T](r, half, depth-1)
	b, second := drawn[T](r, n-half, depth-1)
	if r.IntN(2) == 0 {
		by := extent(first)
		b, second = b.At(by), moved(second, by)
	} else {
		by := extent(second)
		a, first = a.At(by), moved(first, by)
	}
	return strand.Join(a, b), append(first, second...)
}

func moved(blocks []strand.Block, by int) []strand.Block {
	there := make([]strand.Block, len(blocks))
	for i, b := range blocks {
		there[i] = strand.Block{At: b.At + by, Len: b.Len}
	}
	return there
}

func extent(blocks []strand.Block) (end int) {
	for _, b := range blocks {
		end = max(end, b.At+b.Len)
	}
	return end
}

// Scatter copies a message's values to where its blocks lie, and returns how many.
func Scatter[T any](to []T, blocks []strand.Block, message []T) (n int) {
	for _, b := range blocks {
		n += copy(to[b.At:b.At+b.Len], message[n:])
	}
	return n
}

// Collect appends the first n values of a message from where its blocks lie.
func Collect[T any](message []T, from []T, blocks []strand.Block, n int) []T {
	for _, b := range blocks {
		k := min(b.Len, n)
		message, n = append(message, from[b.At:b.At+k]...), n-k
	}
	return message
}
