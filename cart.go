package strand

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sort"

	"github.com/strandmp/strand/internal/given"
)

// A Cart is a communicator whose processes stand in a Cartesian grid (MPI 4.1, section 8.5). They are numbered so
// that the last coordinate changes first. The methods of a nil Cart, which a process beyond the grid has, return
// [ErrNilComm]; those of [Comm], and those that return no error, panic. [Comm.Dup] makes a communicator without a grid;
// [Cart.Sub] that keeps all dimensions makes the grid again.
type Cart struct {
	*Comm
	dims     []int
	periodic []bool
	coords   []int
}

// DimsCreate divides n processes over a grid (MPI_Dims_create). Dims that are 0 are chosen, as equal to each other as can be
// and the larger ones first; others stay. The result is a slice of its own. No grid has more than 2³¹-1 processes, as no
// communicator has.
func DimsCreate(n int, dims []int) ([]int, error) {
	if n < 1 || n > math.MaxInt32 {
		return nil, fmt.Errorf("DimsCreate: a grid of %v does not have %d processes: want 1 to %d", dims, n, math.MaxInt32)
	}
	out, free := slices.Clone(dims), 0
	rest := n
	for i, d := range dims {
		switch {
		case d < 0:
			return nil, fmt.Errorf("DimsCreate: dimension %d is %d: want 0, which is chosen, or more", i, d)
		case d == 0:
			free++
		case rest%d != 0:
			return nil, fmt.Errorf("DimsCreate: %d processes can not be divided by the dimensions given, %v", n, dims)
		default:
			rest /= d
		}
	}
	if free == 0 && rest != 1 {
		return nil, fmt.Errorf("DimsCreate: a grid of %v does not have %d processes", dims, n)
	}
	chosen := balanced(rest, free)
	for i, d := range out {
		if d == 0 {
			out[i], chosen = chosen[0], chosen[1:]
		}
	}
	return out, nil
}

// balanced divides n into k factors, in descending order: of all such the one whose greatest and then whose
// next ones are least.
func balanced(n, k int) []int {
	if k == 0 {
		return nil
	}
	return divided(n, k, n, divisors(n))
}

// divided is balanced with no factor above most, or nil if there is no such division. All lists, in ascending order, what
// factors n may have: a large n has few, and one that is prime has two.
func divided(n, k, most int, all []int) []int {
	if k == 1 {
		if n > most {
			return nil
		}
		return []int{n}
	}
	first := sort.Search(len(all), func(i int) bool { return reaches(all[i], k, n) })
	for _, f := range all[first:] {
		if f > most {
			break
		}
		if n%f == 0 {
			if others := divided(n/f, k-1, f, all); others != nil {
				return append([]int{f}, others...)
			}
		}
	}
	return nil
}

// divisors lists those of n in ascending order.
func divisors(n int) []int {
	var low, high []int
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			low = append(low, d)
			if d != n/d {
				high = append(high, n/d)
			}
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

// reaches reports whether the k-th power of f is n or more.
func reaches(f, k, n int) bool {
	for ; k > 0 && n > 1 && f > 1; k-- {
		n = (n + f - 1) / f
	}
	return n <= 1
}

// Cart makes a grid of the first processes of c, as many as it has places, in the order of their ranks (MPI_Cart_create without
// reordering). Periodic says of which dimensions the ends meet; nil is none. All processes of c call it, with the same dims and periodic.
// A process beyond the grid gets nil.
func (c *Comm) Cart(ctx context.Context, dims []int, periodic []bool) (*Cart, error) {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return nil, err
	}
	if periodic == nil {
		periodic = make([]bool, len(dims))
	}
	places, err := c.places(dims, periodic)
	if err != nil {
		return nil, err
	}
	color := Undefined
	if c.rank < places {
		color = colourOf(dims, periodic)
	}
	d, err := c.splitAs(ctx, call{name: "Cart", also: fmt.Sprintf(" of %v, periodic %v", dims, periodic)}, color, 0)
	if d == nil || err != nil {
		return nil, err
	}
	// Who gives another grid has another colour.
	if d.Size() != places {
		_ = d.Free() // it is not the world's own
		return nil, fmt.Errorf("Cart: of %d ranks of the grid %v only %d have given it, and the same periods: all have to", places, dims, d.Size())
	}
	return newCart(d, dims, periodic), nil
}

func (c *Comm) places(dims []int, periodic []bool) (int, error) {
	if len(periodic) != len(dims) {
		return 0, fmt.Errorf("Cart: %d dimensions, and %d values that say whether they are periodic", len(dims), len(periodic))
	}
	places := 1
	for i, d := range dims {
		if d < 1 {
			return 0, fmt.Errorf("Cart: dimension %d is %d: want 1 or more (DimsCreate chooses)", i, d)
		}
		if places > c.Size()/d {
			return 0, fmt.Errorf("Cart: a grid of %v has more places than the %d ranks of the communicator", dims, c.Size())
		}
		places *= d
	}
	return places, nil
}

// colourOf tells grids apart.
func colourOf(dims []int, periodic []bool) int {
	sum := fnv.New32a()
	_, _ = fmt.Fprintln(sum, dims, periodic) // never fails
	return int(sum.Sum32() >> 1)
}

func newCart(c *Comm, dims []int, periodic []bool) *Cart {
	g := &Cart{Comm: c, dims: slices.Clone(dims), periodic: slices.Clone(periodic)}
	g.coords, _ = g.Coords(c.rank) // it is one of the grid's
	return g
}

// Dims returns the extents of the grid.
func (g *Cart) Dims() []int { return slices.Clone(g.dims) }

// Periodic says of which dimensions the ends meet.
func (g *Cart) Periodic() []bool { return slices.Clone(g.periodic) }

// Coords returns the place of a rank (MPI_Cart_coords).
func (g *Cart) Coords(rank int) ([]int, error) {
	if g == nil {
		return nil, ErrNilComm
	}
	if rank < 0 || rank >= g.Size() {
		return nil, fmt.Errorf("Coords: %w: %d, in a grid of %d", ErrRank, rank, g.Size())
	}
	coords := make([]int, len(g.dims))
	for i := len(g.dims) - 1; i >= 0; i-- {
		coords[i] = rank % g.dims[i]
		rank /= g.dims[i]
	}
	return coords, nil
}

// At returns the rank at a place (MPI_Cart_rank). Coordinates of periodic dimensions are taken round; beyond the ends
// of others is [ProcNull]. It is an error if there are not as many as the grid has dimensions.
func (g *Cart) At(coords ...int) (int, error) {
	if g == nil {
		return 0, ErrNilComm
	}
	if len(coords) != len(g.dims) {
		return 0, fmt.Errorf("At: %d coordinates in a grid of %d dimensions", len(coords), len(g.dims))
	}
	rank := 0
	for i, x := range coords {
		if rank = g.along(i, x, rank); rank == ProcNull {
			return ProcNull, nil
		}
	}
	return rank, nil
}

// along adds a coordinate to what those before have made of a rank.
func (g *Cart) along(dim, x, rank int) int {
	n := g.dims[dim]
	if g.periodic[dim] {
		x = (x%n + n) % n
	}
	if x < 0 || x >= n {
		return ProcNull
	}
	return rank*n + x
}

// Shift returns from whom this process receives and to whom it sends if all pass something on by so many
// places along a dimension (MPI_Cart_shift). Where there is nobody it is [ProcNull], with which messages
// do nothing.
func (g *Cart) Shift(dim, by int) (src, dst int, err error) {
	if g == nil {
		return 0, 0, ErrNilComm
	}
	if dim < 0 || dim >= len(g.dims) {
		return 0, 0, fmt.Errorf("Shift: dimension %d of a grid that has %d", dim, len(g.dims))
	}
	if n := g.dims[dim]; g.periodic[dim] {
		by %= n
	} else {
		by = max(-n, min(by, n)) // beyond the end is beyond the end
	}
	return g.shifted(dim, -by), g.shifted(dim, by), nil
}

func (g *Cart) shifted(dim, by int) int {
	rank := 0
	for i, x := range g.coords {
		if i == dim {
			x += by
		}
		if rank = g.along(i, x, rank); rank == ProcNull {
			return ProcNull
		}
	}
	return rank
}

// Neighbours returns the ranks next to this one: for each dimension the one before and the one behind,
// [ProcNull] where there is none (the order of MPI's collective calls over neighbours).
func (g *Cart) Neighbours() []int {
	all := make([]int, 0, 2*len(g.dims))
	for dim := range g.dims {
		all = append(all, g.shifted(dim, -1), g.shifted(dim, 1))
	}
	return all
}

// Sub divides the grid into grids of fewer dimensions, those that are kept (MPI_Cart_sub). Each has the processes
// whose other coordinates are alike. All processes of the grid call it, with the same keep. Who stands in a grid of which
// not all have given the same gets an error.
func (g *Cart) Sub(ctx context.Context, keep []bool) (*Cart, error) {
	given.Context(ctx)
	if g == nil {
		return nil, ErrNilComm
	}
	if len(keep) != len(g.dims) {
		return nil, fmt.Errorf("Sub: %d values that say what is kept, in a grid of %d dimensions", len(keep), len(g.dims))
	}
	color, places := 0, 1
	var dims []int
	var periodic []bool
	for i, k := range keep {
		if k {
			dims, periodic, places = append(dims, g.dims[i]), append(periodic, g.periodic[i]), places*g.dims[i]
		} else {
			color = color*g.dims[i] + g.coords[i]
		}
	}
	color = g.marked(color, keep)
	d, err := g.splitAs(ctx, call{name: "Sub", also: fmt.Sprintf(", keep %v", keep)}, color, 0)
	if err != nil {
		return nil, err
	}
	if d.Size() != places {
		_ = d.Free() // it is not the world's own
		return nil, fmt.Errorf("Sub: %d ranks where the grid %v has %d places: all ranks have to keep the same dimensions", d.Size(), dims, places)
	}
	return newCart(d, dims, periodic), nil
}

// marked makes a colour one of those alone who keep the same: otherwise ranks that keep different dimensions could meet in a
// grid that seems complete. A grid has at most 31 dimensions that are longer than 1, and a colour for each rank. Along the others ranks are
// the same whether they are kept or not.
func (g *Cart) marked(color int, keep []bool) int {
	for i, k := range keep {
		if g.dims[i] > 1 {
			color *= 2
			if k {
				color++
			}
		}
	}
	return color
}
