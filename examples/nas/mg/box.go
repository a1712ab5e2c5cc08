package mg

// A cube is values in three dimensions, the first of which is contiguous, with one layer around
// them that belongs to the neighbours.
type cube struct {
	n [3]int // with the layers
	v []float64
}

func newCube(n [3]int) cube { return cube{n, make([]float64, n[0]*n[1]*n[2])} }

// row is the values along the first dimension.
func (c *cube) row(j, k int) []float64 {
	start := (k*c.n[1] + j) * c.n[0]
	return c.v[start : start+c.n[0] : start+c.n[0]]
}

// A box is a part of a cube, from lo to below hi.
type box struct{ lo, hi [3]int }

func (b box) size() int { return (b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]) }

// pack copies a box of the cube into out and returns what it has filled.
func (c *cube) pack(b box, out []float64) []float64 {
	n := 0
	for k := b.lo[2]; k < b.hi[2]; k++ {
		for j := b.lo[1]; j < b.hi[1]; j++ {
			n += copy(out[n:], c.row(j, k)[b.lo[0]:b.hi[0]])
		}
	}
	return out[:n]
}

// unpack copies what pack has packed into a box.
func (c *cube) unpack(b box, in []float64) {
	for k := b.lo[2]; k < b.hi[2]; k++ {
		for j := b.lo[1]; j < b.hi[1]; j++ {
			in = in[copy(c.row(j, k)[b.lo[0]:b.hi[0]], in):]
		}
	}
}
