package pml

import (
	"testing"

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
