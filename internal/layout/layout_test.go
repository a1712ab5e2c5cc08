package layout

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A naive layout is the list of its bytes' places.
type naive []int

func (n naive) moved(by int) naive {
	m := make(naive, len(n))
	for i, at := range n {
		m[i] = at + by
	}
	return m
}

// draw makes a layout, and its model.
func draw(t *rapid.T, depth int) (*Layout, naive) {
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind = min(kind, 1)
	}
	switch kind {
	case 0:
		n := rapid.IntRange(0, 20).Draw(t, "run")
		return Run(n), sequence(0, n)
	case 1:
		var blocks []Block
		var model naive
		for range rapid.IntRange(0, 5).Draw(t, "blocks") {
			b := Block{rapid.IntRange(-20, 60).Draw(t, "at"), rapid.SampledFrom([]int{0, 1, 3, 4, 8, 8, 16, 21}).Draw(t, "size")}
			blocks, model = append(blocks, b), append(model, sequence(b.At, b.Size)...)
		}
		l, err := List(blocks)
		require.NoError(t, err)
		return l, model
	case 2:
		l, model := draw(t, depth-1)
		by := rapid.IntRange(-30, 30).Draw(t, "by")
		moved, err := At(l, by)
		require.NoError(t, err)
		return moved, model.moved(by)
	case 3:
		inner, model := draw(t, depth-1)
		count, stride := rapid.IntRange(0, 6).Draw(t, "count"), rapid.IntRange(-40, 40).Draw(t, "stride")
		l, err := Repeat(inner, count, stride)
		require.NoError(t, err)
		var all naive
		for i := range count {
			all = append(all, model.moved(i*stride)...)
		}
		return l, all
	}
	var parts []*Layout
	var all naive
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		l, model := draw(t, depth-1)
		parts, all = append(parts, l), append(all, model...)
	}
	l, err := Join(parts)
	require.NoError(t, err)
	return l, all
}

func sequence(at, n int) naive {
	s := make(naive, n)
	for i := range s {
		s[i] = at + i
	}
	return s
}

// A layout has the bytes that its description says, in whichever pieces they are asked for, and knows whether two are the same.
func TestLayoutsAreWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, model := draw(t, 3)
		require.Equal(t, len(model), l.Size())
		if len(model) == 0 {
			return
		}
		low, high := l.Bounds()
		require.Equal(t, slices.Min(model), low)
		require.Equal(t, slices.Max(model)+1, high)
		require.LessOrEqual(t, l.Blocks(), len(model))
		memory := make([]byte, high-low)
		for i := range memory {
			memory[i] = byte(i*7 + i>>8)
		}
		begun, err := At(l, -(low + 1)) // in two steps, since the negative of the least int is none
		require.NoError(t, err)
		begun, err = At(begun, 1)
		require.NoError(t, err)
		base := unsafe.Pointer(&memory[0])
		checkPacking(t, begun, model.moved(-low), memory, base)
		distinct := slices.Compact(slices.Sorted(slices.Values(model)))
		if err := l.Disjoint(); len(distinct) < len(model) {
			require.ErrorIs(t, err, ErrOverlap)
		} else {
			require.NoError(t, err)
			checkUnpacking(t, begun, model.moved(-low), memory, base)
		}
	})
}

func checkPacking(t *rapid.T, l *Layout, model naive, memory []byte, base unsafe.Pointer) {
	want := make([]byte, len(model))
	for i, at := range model {
		want[i] = memory[at]
	}
	var packed []byte
	for len(packed) < len(want) {
		piece := make([]byte, rapid.IntRange(1, 40).Draw(t, "piece"))
		n := l.Pack(base, len(packed), piece)
		require.Equal(t, min(len(piece), len(want)-len(packed)), n)
		packed = append(packed, piece[:n]...)
	}
	require.Equal(t, want, packed)
	require.Zero(t, l.Pack(base, len(want), make([]byte, 5)))
	var runs []byte
	for run := l.Run(base, 0); run != nil; run = l.Run(base, len(runs)) {
		require.NotEmpty(t, run)
		runs = append(runs, run...)
	}
	require.Equal(t, want, runs)
	offset := rapid.IntRange(0, len(want)-1).Draw(t, "offset")
	require.True(t, bytes.HasPrefix(want[offset:], l.Run(base, offset)))
}

func checkUnpacking(t *rapid.T, l *Layout, model naive, memory []byte, base unsafe.Pointer) {
	want := slices.Clone(memory)
	data := make([]byte, len(model))
	for i, at := range model {
		data[i] = byte(200 + i)
		want[at] = data[i]
	}
	for at := 0; at < len(data); {
		n := rapid.IntRange(1, 40).Draw(t, "piece")
		at += l.Unpack(base, at, data[at:min(at+n, len(data))])
	}
	require.Zero(t, l.Unpack(base, len(data), data))
	require.Equal(t, want, memory, "other bytes have changed, or these have not")
}

// Regular layouts stay small, and are judged without going through their blocks.
func TestRegularLayoutsAreDescriptions(t *testing.T) {
	const n = 1 << (bits.UintSize/2 - 4)
	column, err := Repeat(Run(8), n, 8*n)
	require.NoError(t, err)
	matrix, err := Repeat(column, n, 8)
	require.NoError(t, err)
	assert.Equal(t, 8*n*n, matrix.Size())
	require.NoError(t, matrix.Disjoint())
	tight, err := Repeat(column, n/2, 7)
	require.NoError(t, err)
	require.ErrorIs(t, tight.Disjoint(), ErrUnclear)
	joined, err := Repeat(Run(4), 100, 4)
	require.NoError(t, err)
	assert.True(t, joined.Plain(), "runs that follow each other are one")
	still, err := Repeat(Run(4), 2, 0)
	require.NoError(t, err)
	require.ErrorIs(t, still.Disjoint(), ErrOverlap)
}

// A message that is longer than its memory has some of that twice. No block is looked at for that.
func TestMoreBytesThanMemory(t *testing.T) {
	still, err := Repeat(Run(8), mostBlocks+1, 0)
	require.NoError(t, err)
	require.ErrorIs(t, still.Disjoint(), ErrOverlap)
	row, err := Repeat(Run(8), 1<<20, 16)
	require.NoError(t, err)
	tight, err := Repeat(row, 1<<7, -7)
	require.NoError(t, err)
	require.ErrorIs(t, tight.Disjoint(), ErrOverlap)
}

// What an int does not hold is refused, and nothing comes round.
func TestLayoutsBeyondAnInt(t *testing.T) {
	const n = 1 << (bits.UintSize/2 + 8)
	big := Run(math.MaxInt)
	for name, made := range map[string]func() (*Layout, error){
		"size":        func() (*Layout, error) { return Repeat(Run(n), n, 2*n) },
		"contiguous":  func() (*Layout, error) { return Repeat(Run(n), n, n) },
		"reach":       func() (*Layout, error) { return Repeat(Run(1), n, n) },
		"backwards":   func() (*Layout, error) { return Repeat(Run(1), n, -n) },
		"least":       func() (*Layout, error) { return Repeat(Run(1), 3, math.MinInt) },
		"moved":       func() (*Layout, error) { return At(big, 1) },
		"list":        func() (*Layout, error) { return List([]Block{{math.MaxInt, 1}}) },
		"long list":   func() (*Layout, error) { return List([]Block{{0, math.MaxInt}, {5, 1}}) },
		"joined":      func() (*Layout, error) { return Join([]*Layout{big, Run(1)}) },
		"joined back": func() (*Layout, error) { return Join([]*Layout{Run(1), big}) },
	} {
		l, err := made()
		require.Error(t, err, name)
		assert.Nil(t, l, name)
		assert.Contains(t, err.Error(), "more than an int holds", name)
	}
}

// FuzzLayouts holds that no description leads beyond the bounds that it has.
func FuzzLayouts(f *testing.F) {
	f.Add(3, 5, 8, 2, 7)
	f.Add(-3, 0, 1, -1, math.MinInt)
	f.Fuzz(func(t *testing.T, count, stride, size, times, by int) {
		if size < 0 || count < 0 || times < 0 {
			return
		}
		l, err := Repeat(Run(size), count, stride)
		if err != nil {
			return
		}
		if l, err = At(l, by); err != nil {
			return
		}
		if l, err = Repeat(l, times, stride/2); err != nil || l.Size() == 0 {
			return
		}
		low, high := l.Bounds()
		require.Less(t, low, high)
		if span := uint(high) - uint(low); span > 1<<20 || l.Size() > 1<<20 {
			return
		}
		memory := make([]byte, high-low)
		begun, err := At(l, -(low + 1)) // in two steps, since the negative of the least int is none
		require.NoError(t, err)
		begun, err = At(begun, 1)
		require.NoError(t, err)
		data := make([]byte, l.Size())
		require.Equal(t, len(data), begun.Pack(unsafe.Pointer(&memory[0]), 0, data))
		require.Equal(t, len(data), begun.Unpack(unsafe.Pointer(&memory[0]), 0, data))
	})
}

// Copying allocates nothing.
func TestCopyingAllocatesNothing(t *testing.T) {
	memory, data := make([]byte, 1<<16), make([]byte, 1<<15)
	inner, err := List([]Block{{0, 8}, {24, 4}, {40, 16}})
	require.NoError(t, err)
	l, err := Repeat(inner, 1000, 64)
	require.NoError(t, err)
	base := unsafe.Pointer(&memory[0])
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		l.Pack(base, 5, data)
		l.Unpack(base, 5, data)
		l.Run(base, 300)
	}))
}

func BenchmarkPack(b *testing.B) {
	for _, size := range []int{4, 8, 16, 64, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			const total = 4 << 20
			memory, data := make([]byte, 2*total), make([]byte, 128<<10)
			l, err := Repeat(Run(size), total/size, 2*size)
			require.NoError(b, err)
			b.SetBytes(total)
			for b.Loop() {
				for at := 0; at < total; at += len(data) {
					l.Pack(unsafe.Pointer(&memory[0]), at, data)
				}
			}
		})
	}
}
