package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/param"
)

// Closing with no time to wait would fail in every job. Elsewhere 0 is for ever, so that is likely to be meant.
func TestCloseTimeoutIsNotZero(t *testing.T) {
	r := param.NewRegistry()
	Declare(r)
	_, err := r.Resolve(param.Inputs{Settings: []param.Setting{{Name: "pml_close_timeout", Text: "0s"}}})
	require.EqualError(t, err, `pml_close_timeout = "0s" (from a program option): below the minimum 1ms`)
}

// In a crowd less goes at once, unless the user has said how much, be it what is the default elsewhere.
func TestWhatIsSetHoldsInACrowd(t *testing.T) {
	for text, want := range map[string]int{"": 64 << 10, "0": 0, "4K": 4 << 10, "256K": 256 << 10, "1M": 1 << 20} {
		r := param.NewRegistry()
		Declare(r)
		var in param.Inputs
		if text != "" {
			in.Settings = []param.Setting{{Name: "pml_eager_max", Text: text, Source: param.Source{Kind: param.Option}}}
		}
		values, err := r.Resolve(in)
		require.NoError(t, err)
		tune, err := tunablesFrom(values)
		require.NoError(t, err)
		assert.Equal(t, want, tune.eagerCrowd, "pml_eager_max = %q", text)
	}
}
