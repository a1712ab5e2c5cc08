package strand

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type particle struct {
	ID       int64
	Position struct{ X, Y, Z float32 }
	Name     string
	Mass     float64
}

// What can not be says the value, and what is allowed.
func TestLayoutsThatCanNotBe(t *testing.T) {
	for want, l := range map[string]error{
		"Vector(-1, 2, 3): a layout -1 times: want 0 or more":                                                                    Vector[int](-1, 2, 3).Err(),
		"Vector(1, -2, 3): Contiguous(-2): block 0 of 1 has -2 values: want 0 or more":                                           Vector[int](1, -2, 3).Err(),
		"block 1 of 2 has -1 values: want 0 or more":                                                                             Indexed[int](Block{0, 1}, Block{3, -1}).Err(),
		"Subarray: 2 sizes, 1 of the part, 2 starts: want one of each for each dimension":                                        Subarray[int]([]int{2, 2}, []int{1}, []int{0, 0}).Err(),
		"Subarray: 3 from 2 on in dimension 1, which has 4: want a part of that":                                                 Subarray[int]([]int{2, 4}, []int{1, 3}, []int{0, 2}).Err(),
		"Subarray: 1 from -1 on in dimension 0, which has 4: want a part of that":                                                Subarray[int]([]int{4}, []int{1}, []int{-1}).Err(),
		`field "Weight" of type strand.particle: strand.particle has no field "Weight"; its fields are ID, Position, Name, Mass`: Fields[particle](1, "Weight").Err(),
		`field "ID.X" of type strand.particle: int64 is no struct`:                                                               Fields[particle](1, "ID.X").Err(),
		`field "Name" of type strand.particle can not be sent: string refers to memory of this process`:                          Fields[particle](1, "Name").Err(),
		"values of type strand.particle can not be sent: field Name (string) refers to memory of this process":                   Contiguous[particle](1).named("").Err(),
		"layout 1 of 2: a layout -3 times: want 0 or more":                                                                       Join(Contiguous[int](1), Contiguous[int](1).Repeat(-3, 1)).Err(),
		"Fields of -1 values of type strand.particle: want 0 or more":                                                            Fields[particle](-1, "ID").Err(),
	} {
		if assert.Error(t, l, want) {
			assert.Contains(t, l.Error(), want)
		}
	}
	const n = 1 << (bits.UintSize/2 + 8)
	for name, l := range map[string]Layout[int64]{
		"vector":   Vector[int64](n, 1, n),
		"long":     Contiguous[int64](math.MaxInt),
		"far":      Contiguous[int64](1).At(math.MaxInt / 2),
		"often":    Contiguous[int64](n).Repeat(n, n),
		"subarray": Subarray[int64]([]int{math.MaxInt, math.MaxInt}, []int{1, 1}, []int{0, 0}),
		"moved":    Vector[int64](-1, 1, 1).At(1),
	} {
		assert.Error(t, l.Err(), name)
		assert.Error(t, l.Of(make([]int64, 10)).Err(), name)
		assert.Zero(t, l.Size(), name)
	}
}

// Views that go beyond their slice say by how much.
func TestViewsBeyondTheirSlice(t *testing.T) {
	column := Vector[int32](3, 1, 4)
	assert.Equal(t, 9, column.Reach())
	assert.NoError(t, column.Of(make([]int32, 9)).Err())
	assert.EqualError(t, column.Of(make([]int32, 8)).Err(), "the layout picks values 0 to 8: the slice has 8")
	assert.EqualError(t, Contiguous[int32](2).At(-4).Of(make([]int32, 9)).Err(), "the layout picks values -4 to -3: the slice has 9")
	assert.EqualError(t, column.At(-1).Of(make([]int32, 9)).Err(), "the layout picks values -1 to 7: the slice has 9")
	assert.EqualError(t, Contiguous[int32](1).Of(nil).Err(), "the layout picks values 0 to 0: the slice has 0")
	assert.NoError(t, Vector[int32](0, 5, 7).Of(nil).Err())
	assert.NoError(t, Layout[int32]{}.Of(nil).Err())
	assert.EqualError(t, Fields[particle](3, "Mass").Of(make([]particle, 2)).Err(), "the layout picks values 0 to 2: the slice has 2")
}

// What is picked twice is sent, and not received.
func TestViewsThatOverlap(t *testing.T) {
	twice := Vector[int32](2, 2, 1).Of([]int32{1, 2, 3})
	require.NoError(t, twice.sendable("Send"))
	assert.EqualError(t, twice.receivable("RecvView"), "RecvView: the layout picks a value twice: it can be sent, but which of two values would it receive?")
	b := make([]byte, 16)
	n, err := twice.Pack(b)
	require.NoError(t, err)
	assert.Equal(t, 16, n)
	_, err = twice.Unpack(b)
	assert.Error(t, err)
	columns := Vector[int32](2, 1, 3).Repeat(3, 1) // they lie between each other
	assert.NoError(t, columns.Of(make([]int32, 6)).receivable("RecvView"))
}

// Fields beside those with pointers are sent, and nothing else is touched.
func TestFields(t *testing.T) {
	l := Fields[particle](2, "Mass", "Position.Y", "ID")
	require.NoError(t, l.Err())
	all := []particle{{ID: 1, Name: "a", Mass: 2}, {ID: 3, Name: "b", Mass: 4}}
	all[1].Position.Y = 5
	packed := make([]byte, l.Size())
	n, err := l.Of(all).Pack(packed)
	require.NoError(t, err)
	require.Equal(t, 2*(8+4+8), n)
	got := []particle{{Name: "x"}, {Name: "y"}}
	got[0].Position.X = 7
	_, err = l.Of(got).Unpack(packed)
	require.NoError(t, err)
	want := []particle{{ID: 1, Name: "x", Mass: 2}, {ID: 3, Name: "y", Mass: 4}}
	want[0].Position.X, want[1].Position.Y = 7, 5
	assert.Equal(t, want, got)
}

// A view is made without allocating.
func TestViewsAreValues(t *testing.T) {
	l, values := Vector[int32](3, 1, 4), make([]int32, 20)
	size := 0
	assert.Zero(t, testing.AllocsPerRun(10, func() { size += l.Of(values[2:]).Size() }))
}
