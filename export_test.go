package strand

import "github.com/strandmp/strand/internal/representation"

// Unlike has one rank tell that its machine differs from the others' in these traits.
func Unlike(rank int, in representation.Traits) Option {
	return func(o *options) {
		if o.job.Rank() == rank {
			o.traits ^= in
		}
	}
}
