package messages_test

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

type particle struct {
	Position [3]float64
	Charge   int8
	Tag      complex64
}

// incomparable has an array without elements, as types have that are not to be compared: no function is in it.
type incomparable struct {
	_     [0]func()
	Value int32
}

func TestGenericSendAndReceive(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		exchange(p, []int{1, -2, 3})
		exchange(p, []uint8{1, 2, 3})
		exchange(p, []float64{1.5, -2.5})
		exchange(p, []complex128{1 + 2i})
		exchange(p, []bool{true, false})
		exchange(p, [][4]int16{{1, 2, 3, 4}, {5, 6, 7, 8}})
		exchange(p, []particle{{Position: [3]float64{1, 2, 3}, Charge: -1, Tag: 2i}, {Charge: 5}})
		exchange(p, make([]float32, 100_000))
		exchange(p, []int64{})
		exchange(p, []struct{}{})
		exchange(p, []incomparable{{Value: 1}, {Value: 2}})
	})
}

func exchange[T any](p *world.Pair, values []T) {
	p.Helper()
	got := make([]T, len(values))
	in, err := strand.Irecv(p.Receiver, got, p.From, 1)
	require.NoError(p, err)
	require.NoError(p, strand.Send(p.Ctx, p.Sender, values, p.To, 1))
	st := p.Wait(in)
	require.Equal(p, values, got)
	require.Equal(p, len(values)*int(unsafe.Sizeof(*new(T))), st.Count)
	if st.Count > 0 {
		require.Equal(p, len(values), strand.Count[T](st))
	}

	for _, start := range []func(*strand.Comm, []T, int, int) (strand.Request, error){
		strand.Isend[T], strand.Issend[T], strand.Ibsend[T], strand.Irsend[T],
	} {
		clear(got)
		out, err := start(p.Sender, values, p.To, 1)
		require.NoError(p, err)
		n, st, err := strand.Recv(p.Ctx, p.Receiver, got, p.From, 1)
		require.NoError(p, err)
		require.Equal(p, strand.Count[T](st), n)
		p.Wait(out)
		require.Equal(p, values, got)
	}
	for i, send := range []func(context.Context, *strand.Comm, []T, int, int) error{strand.Ssend[T], strand.Bsend[T], strand.Rsend[T]} {
		clear(got)
		sent := make(chan error, 1)
		go func() { sent <- send(p.Ctx, p.Sender, values, p.To, 1) }()
		m, err := p.Receiver.Mprobe(p.Ctx, p.From, 1)
		require.NoError(p, err)
		if i == 0 {
			in, err := strand.IrecvMatched(m, got)
			require.NoError(p, err)
			p.Wait(in)
		} else {
			n, st, err := strand.RecvMatched(p.Ctx, m, got)
			require.NoError(p, err)
			require.Equal(p, strand.Count[T](st), n)
		}
		require.NoError(p, <-sent)
		require.Equal(p, values, got)
	}
}

// Both halves of a typed Sendrecv have a type of their own.
func TestGenericSendrecv(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			in := make([]float32, 3)
			n, st, err := strand.Sendrecv(ctx, c, []int64{1, 2}, 1, 0, in, 1, 0)
			assert.Equal(t, 1, n)
			assert.Equal(t, strand.Status{Source: 1, Count: 4}, st)
			assert.Equal(t, []float32{2.5, 0, 0}, in)
			return err
		}
		in := make([]int64, 2)
		n, _, err := strand.Sendrecv(ctx, c, []float32{2.5}, 0, 0, in, 0, 0)
		assert.Equal(t, 2, n)
		assert.Equal(t, []int64{1, 2}, in)
		return err
	})
}

// Bytes is the memory of the values itself.
func TestBytes(t *testing.T) {
	values := []int32{1, 2}
	b, err := strand.Bytes(values)
	require.NoError(t, err)
	require.Len(t, b, 8)
	clear(b[:4])
	require.Equal(t, []int32{0, 2}, values)
	none, err := strand.Bytes([]string{"a"})
	require.ErrorContains(t, err, "values of type string can not be sent")
	require.Nil(t, none)
}

// A message that holds no whole number of values counts those that are whole.
func TestGenericCount(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		out := p.Isend(make([]byte, 11), 1)
		n, st, err := strand.Recv(p.Ctx, p.Receiver, make([]int32, 5), p.From, 1)
		require.NoError(p, err)
		require.Equal(p, []int{2, 11}, []int{n, st.Count})
		p.Wait(out)
	})
}

// What refers to memory of this process can not be sent, and the error names the
// part that does.
func TestGenericRefusesPointers(t *testing.T) {
	c, ctx := world.Open(t, 1)[0].Comm(), world.Context(t)
	type inner struct {
		_    int
		Name string
	}
	type outer struct {
		Count int
		Inner [2]inner
	}
	refuses(t, strand.Send(ctx, c, []string{"x"}, 0, 1), "values of type string can not be sent: string refers to memory of this process")
	refuses(t, strand.Send(ctx, c, []*int{nil}, 0, 1), "values of type *int")
	refuses(t, strand.Send(ctx, c, [][]byte{nil}, 0, 1), "values of type []uint8")
	refuses(t, strand.Send(ctx, c, []any{1}, 0, 1), "interface {} refers")
	refuses(t, strand.Send(ctx, c, []map[int]int{nil}, 0, 1), "map[int]int refers")
	refuses(t, strand.Send(ctx, c, []func(){nil}, 0, 1), "func() refers")
	refuses(t, strand.Send(ctx, c, []chan int{nil}, 0, 1), "chan int refers")
	refuses(t, strand.Send(ctx, c, []unsafe.Pointer{nil}, 0, 1), "unsafe.Pointer refers")
	refuses(t, strand.Send(ctx, c, []uintptr{0}, 0, 1), "uintptr refers")
	refuses(t, strand.Send(ctx, c, []outer{}, 0, 1), "outer can not be sent: field Inner (field Name (string)) refers")
	for range 2 { // the verdict is remembered
		_, err := strand.Isend(c, []outer{}, 0, 1)
		refuses(t, err, "field Inner (field Name (string))")
		_, _, err = strand.Recv(ctx, c, []outer{}, 0, 1)
		refuses(t, err, "field Inner (field Name (string))")
		_, err = strand.Irecv(c, []outer{}, 0, 1)
		refuses(t, err, "field Inner (field Name (string))")
	}
}

func refuses(t *testing.T, err error, says string) {
	t.Helper()
	assert.ErrorContains(t, err, says)
}

// The values themselves are sent and received, even while they change: a long
// message is read from them when it is received.
func TestGenericMakesNoCopy(t *testing.T) {
	c, ctx := world.Open(t, 1)[0].Comm(), world.Context(t)
	values, got := make([]float64, 1<<17), make([]float64, 1<<17)
	out, err := strand.Isend(c, values, 0, 1)
	require.NoError(t, err)
	_, err = c.Probe(ctx, 0, 1)
	require.NoError(t, err)
	values[len(values)-1] = 42 // against the rules, but nobody reads it yet
	_, _, err = strand.Recv(ctx, c, got, 0, 1)
	require.NoError(t, err)
	_, err = out.Wait(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 42, got[len(got)-1])
}
