package representation

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	bent struct {
		A int32
		B int64
	}
	straight struct{ X, Y, Z float64 }
	longer   struct {
		A int64
		B int32
	} // the same places, but a slice's values are further apart
	paired struct {
		A, B int32
		C    float64
	}
	nested struct {
		A [3]byte
		B bent
	}
	twice struct {
		A int32
		C complex128
	}
	once struct {
		A int32
		C complex64
	}
	marked struct {
		_ [0]int64
		A int32
	}
	ending struct {
		A int32
		_ struct{}
	}
	endingBy8 struct {
		A int64
		_ [0]int64
	}
	counted struct{ N int }
	mixed   struct {
		A int32
		N uint
		B int64
		C int8
	}
	noFuncs struct {
		_ [0]func()
		A int32
	}
	noInts struct {
		_ [0]int
		A int32
	}
	short struct {
		A, B int8
		C    [4]bool
	}
)

func TestTraitsOfTypes(t *testing.T) {
	for _, c := range []struct {
		of   any
		want Traits
	}{
		{byte(0), 0}, {int8(0), 0}, {false, 0}, {[3]int8{}, 0}, {[0]int{}, 0}, {struct{}{}, 0}, {short{}, 0},
		{int16(0), Order}, {uint32(0), Order}, {int64(0), Order}, {float32(0), Order}, {1.5, Order}, {complex64(0), Order}, {complex128(0), Order},
		{[2]uint64{}, Order}, {straight{}, Order}, {paired{}, Order}, {once{}, Order}, {ending{}, Order},
		{int(0), Order | Words}, {uint(0), Order | Words}, {[1]int{}, Order | Words}, {counted{}, Order | Words}, {mixed{}, Order | Words},
		{bent{}, Order | Words}, {longer{}, Order | Words}, {nested{}, Order | Words}, {[2]bent{}, Order | Words}, {twice{}, Order | Words},
		{marked{}, Order | Words}, {endingBy8{}, Order | Words}, {noFuncs{}, Order | Words}, {noInts{}, Order | Words},
	} {
		assert.Equal(t, c.want, Of(reflect.TypeOf(c.of)), "%T", c.of)
	}
}

// What is computed for words of another length is for this one what the compiler does.
func TestExtentIsTheCompilers(t *testing.T) {
	for _, v := range []any{
		byte(0), int16(0), int32(0), int64(0), 1.5, complex64(0), complex128(0), 0, uint(0), [3]int64{}, [0]int64{}, struct{}{},
		bent{}, straight{}, longer{}, paired{}, nested{}, twice{}, once{}, marked{}, ending{}, endingBy8{}, short{}, noFuncs{}, noInts{}, counted{}, mixed{},
	} {
		of := reflect.TypeOf(v)
		size, align := extent(of, strconv.IntSize/8)
		assert.Equal(t, uint64(of.Size()), size, "size of %T", v)
		assert.Equal(t, uint64(of.Align()), align, "alignment of %T", v)
	}
}

func TestProcesses(t *testing.T) {
	require.True(t, Own().Valid())
	require.True(t, (Order | Words).Valid())
	require.False(t, Traits(4).Valid())
	require.Equal(t, "little-endian with words of 64 bits", Traits(0).String())
	require.Equal(t, "big-endian with words of 32 bits", (Order | Words).String())
}
