package rawio

// MaxPieces is how many pieces a [Vector] takes. More gain nothing: 64 pieces
// of a page each fill any socket buffer that is worth filling in one call, and
// every system takes at least that many (POSIX: 16, in practice 1024).
const MaxPieces = 64

// Len returns the number of pieces.
func (v *Vector) Len() int { return v.n }

// Size returns the number of bytes in all pieces.
func (v *Vector) Size() int { return v.size }

// Limit drops what there is beyond the first n bytes.
func (v *Vector) Limit(n int) {
	for v.size > n {
		last := v.n - 1
		over := v.size - n
		if k := v.length(last); k > over {
			v.cut(last, k-over)
		} else {
			over = k
			v.drop(last)
		}
		v.size -= over
	}
}
