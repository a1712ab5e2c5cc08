package ft

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// A plan transforms sequences of n complex numbers, a power of two (Stockham's algorithm in steps of
// four): X[k] = Σ x[j]·exp(sign·2πi·j·k/n).
type plan struct {
	n        int
	negative bool
	steps    []step
	scratch  []complex128
}

// A step makes, of stride sequences that are interleaved, four times as many that are a quarter as long.
type step struct {
	stride   int
	twiddles [][3]complex128
}

func newPlan(n int, sign float64) *plan {
	p := &plan{n: n, negative: sign < 0, scratch: make([]complex128, n)}
	stride := 1
	for length := n; length >= 4; length /= 4 {
		s := step{stride: stride}
		for i := range length / 4 {
			angle := sign * 2 * math.Pi * float64(i) / float64(length)
			s.twiddles = append(s.twiddles, [3]complex128{cmplx.Rect(1, angle), cmplx.Rect(1, 2*angle), cmplx.Rect(1, 3*angle)})
		}
		p.steps = append(p.steps, s)
		stride *= 4
	}
	return p
}

// transform changes x in place.
func (p *plan) transform(x []complex128) {
	from, to := x[:p.n], p.scratch
	for i := range p.steps {
		p.steps[i].do(from, to, p.negative)
		from, to = to, from
	}
	if bits.TrailingZeros(uint(p.n))%2 == 1 {
		halves(from, to)
		from = to
	}
	if &from[0] != &x[0] {
		copy(x, from)
	}
}

func (s *step) do(from, to []complex128, negative bool) {
	n, m := s.stride, len(from)/4
	for i, w := range s.twiddles {
		a, b, c, d := from[i*n:][:n], from[i*n+m:][:n], from[i*n+2*m:][:n], from[i*n+3*m:][:n]
		if negative {
			b, d = d, b // instead of −i for i
		}
		out := to[4*i*n:][:4*n]
		o0, o1, o2, o3 := out[:n], out[n:][:n], out[2*n:][:n], out[3*n:][:n]
		w1, w2, w3 := w[0], w[1], w[2]
		for q := range a {
			ac, bd := a[q]+c[q], b[q]+d[q]
			left, turn := a[q]-c[q], b[q]-d[q]
			turn = complex(-imag(turn), real(turn))
			o0[q] = ac + bd
			o1[q] = w1 * (left + turn)
			o2[q] = w2 * (ac - bd)
			o3[q] = w3 * (left - turn)
		}
	}
}

// halves is the last step of sequences whose length is no power of four.
func halves(from, to []complex128) {
	n := len(from) / 2
	a, b, o0, o1 := from[:n], from[n:][:n], to[:n], to[n:][:n]
	for q := range a {
		o0[q], o1[q] = a[q]+b[q], a[q]-b[q]
	}
}
