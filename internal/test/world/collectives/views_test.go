package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// rowsTo is, for each of n ranks, the view of a slab of rows×columns values that the rank is to have of its transposition.
func rowsTo(n int, slab []int64, rows, columns int) []strand.View {
	views := make([]strand.View, n)
	for r := range views {
		views[r] = strand.Subarray[int64]([]int{rows, columns}, []int{rows, columns / n}, []int{0, r * columns / n}).Of(slab)
	}
	return views
}

// columnsFrom is where what comes of each rank goes, value by value.
func columnsFrom(n int, slab []int64, rows, columns int) []strand.View {
	views := make([]strand.View, n)
	each := columns / n
	column := strand.Vector[int64](rows, 1, columns).Repeat(each, 1)
	for r := range views {
		views[r] = column.Of(slab[r*each:])
	}
	return views
}

// A matrix whose rows are spread over ranks is transposed, without packing.
func TestTranspose(t *testing.T) {
	for _, list := range []string{"tcp,self", "sm,self", "sctp,self", "udp,self"} {
		for _, n := range []int{1, 2, 3, 5} {
			rows, columns := 4*n, 6*n
			w := world.Open(t, n, strand.WithParam("btl", list))
			together(t, w, func(ctx context.Context, c *strand.Comm) error {
				own, got := make([]int64, rows/n*columns), make([]int64, columns/n*rows)
				for i := range own {
					own[i] = int64(c.Rank()*len(own) + i)
				}
				in, out := rowsTo(n, own, rows/n, columns), columnsFrom(n, got, columns/n, rows)
				for range 2 {
					clear(got)
					if err := c.AlltoallView(ctx, in, out); err != nil {
						return err
					}
					for i, v := range got {
						row, column := c.Rank()*(columns/n)+i/rows, i%rows
						if v != int64(column*columns+row) {
							return fmt.Errorf("value %d of rank %d is %d", i, c.Rank(), v)
						}
					}
				}
				clear(got)
				r, err := c.IalltoallView(in, out)
				if err != nil {
					return err
				}
				_, err = r.Wait(ctx)
				assert.EqualValues(t, columns, got[1]-got[0])
				return err
			})
			world.Close(t, w...)
		}
	}
}

// Every second value of all goes where it is meant to, in every call.
func TestCollectivesOfViews(t *testing.T) {
	const n, root = 5, 2
	for _, length := range []int{1, 1000, 200_000} {
		strandtest.Run(t, n, func(ctx context.Context, w *strand.World) error {
			c, every := w.Comm(), strand.Vector[int64](length, 1, 2)
			own, all := make([]int64, 2*length), make([][]int64, n)
			var whole []strand.View
			for r := range n {
				all[r] = make([]int64, 3*length)
				whole = append(whole, strand.Vector[int64](length, 1, 3).Of(all[r]))
			}
			for i := range own {
				own[i] = int64(c.Rank()*1000 + i)
			}
			if err := c.AllgatherView(ctx, every.Of(own), whole); err != nil {
				return err
			}
			checkAll(t, all, length)
			for _, some := range all {
				clear(some)
			}
			if err := c.GatherView(ctx, every.Of(own), whole, root); err != nil {
				return err
			}
			if c.Rank() == root {
				checkAll(t, all, length)
			}
			clear(own)
			if err := c.ScatterView(ctx, whole, every.Of(own), root); err != nil {
				return err
			}
			assert.Equal(t, int64(c.Rank()*1000), own[0])
			assert.Equal(t, int64(c.Rank()*1000+2*(length-1)), own[2*length-2])
			v := strand.ViewOf(own[:length])
			if c.Rank()%2 == 0 {
				v = every.Of(own)
			}
			if err := c.BcastView(ctx, v, root); err != nil {
				return err
			}
			packed := make([]int64, length)
			b, err := strand.Bytes(packed)
			require.NoError(t, err)
			_, err = v.Pack(b)
			assert.Equal(t, int64(root*1000), packed[0])
			assert.Equal(t, int64(root*1000+2*(length-1)), packed[length-1])
			return err
		})
	}
}

func checkAll(t *testing.T, all [][]int64, length int) {
	for r, some := range all {
		for i, v := range some {
			want := int64(0)
			if i%3 == 0 {
				want = int64(r*1000 + i/3*2)
			}
			if v != want {
				assert.Equal(t, want, v, "value %d of rank %d", i, r)
				return
			}
		}
	}
	assert.Len(t, all[0], 3*length)
}

// A halo goes to the neighbours of a grid without packing.
func TestHalo(t *testing.T) {
	strandtest.Run(t, 4, func(ctx context.Context, w *strand.World) error {
		g, err := w.Comm().Cart(ctx, []int{2, 2}, []bool{true, false})
		if err != nil {
			return err
		}
		const side = 5 // of the field with its halo
		field := make([]int32, side*side)
		inner := strand.Subarray[int32]([]int{side, side}, []int{side - 2, side - 2}, []int{1, 1})
		values := make([]int32, inner.Size()/4)
		for i := range values {
			values[i] = int32(g.Rank() + 1)
		}
		b, err := strand.Bytes(values)
		require.NoError(t, err)
		_, err = inner.Of(field).Unpack(b)
		require.NoError(t, err)
		line, pillar := strand.Contiguous[int32](side-2), strand.Vector[int32](side-2, 1, side)
		in := []strand.View{line.Of(field[side+1:]), line.Of(field[3*side+1:]), pillar.Of(field[side+1:]), pillar.Of(field[side+3:])}
		out := []strand.View{line.Of(field[1:]), line.Of(field[4*side+1:]), pillar.Of(field[side:]), pillar.Of(field[side+4:])}
		for i, neighbour := range g.Neighbours() {
			if neighbour == strand.ProcNull { // its views do not count, not even those that are none
				in[i], out[i] = strand.Contiguous[int32](-1).Of(nil), line.Of(nil)
			}
		}
		if err := g.NeighborAlltoallView(ctx, in, out); err != nil {
			return err
		}
		for i, at := range []int{2, 4*side + 2, 2 * side, 2*side + 4} {
			assert.Equal(t, int32(g.Neighbours()[i]+1)*min(1, int32(g.Neighbours()[i]+2)), max(field[at], 0), "neighbour %d", i)
		}
		return g.Free()
	})
}

// Views that do not fit a call are refused before it begins.
func TestViewsThatDoNotFitACall(t *testing.T) {
	strandtest.Run(t, 2, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		one, two := strand.ViewOf(make([]int32, 1)), strand.ViewOf(make([]int32, 2))
		twice := strand.Vector[int32](2, 1, 0).Of(make([]int32, 1))
		beyond := strand.Vector[int32](2, 1, 5).Of(make([]int32, 1))
		for want, err := range map[string]error{
			"AlltoallView: 1 views to send: want one for each of 2 ranks":                c.AlltoallView(ctx, []strand.View{one}, []strand.View{one, one}),
			"AlltoallView: 1 views: want one for each of 2 ranks":                        c.AlltoallView(ctx, []strand.View{one, one}, []strand.View{one}),
			"one view has 8 bytes and the other 4: want the same number":                 c.AlltoallView(ctx, []strand.View{one, one}, []strand.View{two, two}),
			"would it receive? (view 1 of 2)":                                            c.AllgatherView(ctx, two, []strand.View{two, twice}),
			"BcastView: the layout picks values 0 to 5: the slice has 1":                 c.BcastView(ctx, beyond, 0),
			"GatherView: bad rank: root 7":                                               c.GatherView(ctx, one, nil, 7),
			"ScatterView: the layout picks a value twice":                                c.ScatterView(ctx, []strand.View{two, two}, twice, 0),
			"ScatterView: the layout picks values 0 to 5: the slice has 1 (view 0 of 2)": c.ScatterView(ctx, []strand.View{beyond, two}, two, c.Rank()),
			"AllgatherView: the layout picks values 0 to 5: the slice has 1":             c.AllgatherView(ctx, beyond, []strand.View{two, two}),
		} {
			if assert.Error(t, err, want) {
				assert.Contains(t, err.Error(), want)
			}
		}
		return c.Barrier(ctx)
	})
}

// Long views go in pieces. One that is longer, or shorter, by whole pieces is found too.
func TestViewsByPiecesThatDoNotFit(t *testing.T) {
	const piece = 1 << 20
	for _, pieces := range [][2]int{{1, 2}, {2, 1}, {0, 1}, {1, 0}} {
		w := world.Open(t, 2)
		ctx := world.Context(t)
		of := func(rank int) strand.View {
			return strand.Vector[byte](pieces[rank]*piece/2, 1, 2).Repeat(2, pieces[rank]*piece).Of(make([]byte, 2*pieces[rank]*piece))
		}
		done := make(chan error, 1)
		go func() { done <- w[0].Comm().BcastView(ctx, of(0), 0) }()
		err := w[1].Comm().BcastView(ctx, of(1), 0)
		require.ErrorContains(t, err, "BcastView: rank 0 has sent ", pieces)
		require.ErrorContains(t, err, "are due on rank 1", pieces)
		if err := <-done; err != nil { // or all was sent before
			require.ErrorIs(t, err, strand.ErrOutOfStep)
		}
	}
}
