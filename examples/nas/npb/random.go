package npb

// A Seed is a state of the generator that all kernels use: x ← a·x mod 2⁴⁶, with an odd x. A number
// between 0 and 1 is x / 2⁴⁶.
type Seed uint64

// Multiplier is the a that all kernels use: 5¹³.
const Multiplier Seed = 1220703125

const (
	modulus = 1<<46 - 1
	scale   = 1.0 / (1 << 46)
)

// Next steps by a multiplier and returns the number there (randlc).
func (s *Seed) Next(a Seed) float64 {
	*s = *s * a & modulus
	return float64(int64(*s)) * scale
}

// Fill steps once for each place of out (vranlc).
func (s *Seed) Fill(out []float64) {
	x := *s
	for i := range out {
		x = x * Multiplier & modulus
		out[i] = float64(int64(x)) * scale
	}
	*s = x
}

// Power is a to the n: the multiplier of n steps at once.
func Power(a Seed, n uint64) Seed {
	p := Seed(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = p * a & modulus
		}
		a = a * a & modulus
	}
	return p
}

// Skip makes n steps at once.
func (s *Seed) Skip(n uint64) { *s = *s * Power(Multiplier, n) & modulus }
