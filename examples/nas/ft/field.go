package ft

import (
	"context"
	"math"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

const seed npb.Seed = 314159265

// alpha is the diffusion of a time step.
const alpha = 1e-6

// A field is a rank's part of complex numbers in three dimensions. In space it has planes of constant
// z: x runs fastest, then y. Of wave numbers it has columns in the direction of z, which runs fastest:
// those of some (y, x).
type field struct {
	problem
	comm           *strand.Comm
	planes         int // of this rank
	columns        int // of this rank
	space          []complex128
	waves          []complex128
	send, received []complex128

	forward, backward [3]*plan
	decay             [3][]float64 // of wave numbers in a time step, by dimension
	block             []complex128
}

func newField(c *strand.Comm, p problem) *field {
	f := &field{problem: p, comm: c, planes: p.nz / c.Size(), columns: p.nx * p.ny / c.Size()}
	for _, a := range []*[]complex128{&f.space, &f.waves, &f.send, &f.received} {
		*a = make([]complex128, f.planes*p.nx*p.ny)
	}
	f.block = make([]complex128, blockWidth*max(p.nx, p.ny, p.nz))
	return f
}

// plan prepares sines, cosines and exponentials.
func (f *field) plan() {
	for d, n := range [3]int{f.nx, f.ny, f.nz} {
		f.forward[d], f.backward[d] = newPlan(n, 1), newPlan(n, -1)
		f.decay[d] = make([]float64, n)
		for i := range n {
			wave := float64((i+n/2)%n - n/2)
			f.decay[d][i] = math.Exp(-4 * alpha * math.Pi * math.Pi * wave * wave)
		}
	}
}

// fill sets the space to random numbers, one sequence over all ranks.
func (f *field) fill() {
	s := seed
	s.Skip(2 * uint64(f.comm.Rank()) * uint64(len(f.space)))
	numbers := make([]float64, 2*f.nx)
	for row := f.space; len(row) > 0; row = row[f.nx:] {
		s.Fill(numbers)
		for i := range row[:f.nx] {
			row[i] = complex(numbers[2*i], numbers[2*i+1])
		}
	}
}

// toWaves transforms the space, which it changes.
func (f *field) toWaves(ctx context.Context) error {
	for z := range f.planes {
		plane := f.space[z*f.nx*f.ny:][:f.nx*f.ny]
		f.alongX(f.forward[0], plane)
		f.alongY(f.forward[1], plane)
	}
	transpose(f.send, f.space, f.planes, f.nx*f.ny)
	if err := f.exchange(ctx); err != nil {
		return err
	}
	for i := range f.columns {
		column := f.waves[i*f.nz:][:f.nz]
		for rank := range f.comm.Size() {
			copy(column[rank*f.planes:][:f.planes], f.received[(rank*f.columns+i)*f.planes:])
		}
		f.forward[2].transform(column)
	}
	return nil
}

// evolveToSpace makes a time step of the waves and transforms them.
func (f *field) evolveToSpace(ctx context.Context) error {
	column := f.block[:f.nz]
	for i := range f.columns {
		f.evolve(column, i)
		f.backward[2].transform(column)
		for rank := range f.comm.Size() {
			copy(f.send[(rank*f.columns+i)*f.planes:][:f.planes], column[rank*f.planes:])
		}
	}
	if err := f.exchange(ctx); err != nil {
		return err
	}
	transpose(f.space, f.received, f.nx*f.ny, f.planes)
	for z := range f.planes {
		plane := f.space[z*f.nx*f.ny:][:f.nx*f.ny]
		f.alongY(f.backward[1], plane)
		f.alongX(f.backward[0], plane)
	}
	return nil
}

// evolve makes a time step of a column of waves, and copies it.
func (f *field) evolve(column []complex128, i int) {
	at := f.comm.Rank()*f.columns + i
	xy := f.decay[0][at%f.nx] * f.decay[1][at/f.nx]
	waves, decay := f.waves[i*f.nz:][:f.nz], f.decay[2][:f.nz]
	column = column[:f.nz]
	for k, w := range waves {
		d := xy * decay[k]
		w = complex(real(w)*d, imag(w)*d)
		waves[k], column[k] = w, w
	}
}

// exchange gives each rank its part.
func (f *field) exchange(ctx context.Context) error {
	if f.comm.Size() == 1 {
		f.send, f.received = f.received, f.send
		return nil
	}
	return strand.Alltoall(ctx, f.comm, f.send, f.received)
}

// checksum adds up 1024 values of the space, of all ranks, at rank 0.
func (f *field) checksum(ctx context.Context) (complex128, error) {
	sum, first := []complex128{0}, f.comm.Rank()*f.planes
	for j := 1; j <= 1024; j++ {
		x, y, z := j%f.nx, 3*j%f.ny, 5*j%f.nz
		if z >= first && z < first+f.planes {
			sum[0] += f.space[((z-first)*f.ny+y)*f.nx+x]
		}
	}
	err := strand.Reduce(ctx, f.comm, strand.Sum[complex128](), sum, sum, 0)
	return sum[0] / complex(float64(f.points()), 0), err
}

func (f *field) alongX(p *plan, plane []complex128) {
	for ; len(plane) > 0; plane = plane[f.nx:] {
		p.transform(plane)
	}
}

// blockWidth is how many columns go through the cache together: what a line of it has, times two.
const blockWidth = 8

// alongY transforms the columns of a plane, some at a time.
func (f *field) alongY(p *plan, plane []complex128) {
	for x := 0; x < f.nx; x += blockWidth {
		for y := range f.ny {
			for i, v := range plane[y*f.nx+x:][:blockWidth] {
				f.block[i*f.ny+y] = v
			}
		}
		for i := range blockWidth {
			p.transform(f.block[i*f.ny:][:f.ny])
		}
		for y := range f.ny {
			row := plane[y*f.nx+x:][:blockWidth]
			for i := range row {
				row[i] = f.block[i*f.ny+y]
			}
		}
	}
}

// transpose sets out, which has columns rows, to a matrix of so many rows, in squares that fit into the cache.
func transpose(out, in []complex128, rows, columns int) {
	const side = 16
	for i := 0; i < rows; i += side {
		for j := 0; j < columns; j += side {
			for y := i; y < min(i+side, rows); y++ {
				for x, v := range in[y*columns+j : y*columns+min(j+side, columns)] {
					out[(j+x)*rows+y] = v
				}
			}
		}
	}
}
