package pml

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/pml/match"
)

// A probe has found a message, and another call takes it before the probe returns: the engine releases its lock for what moves many
// bytes. Then the probe waits for the next one.
func TestWhatAProbeHasFoundMayBeTaken(t *testing.T) {
	pe, _, c := receiving(t)
	a := &arrival{context: c, source: match.Any, tag: AnyTag, seen: c.match.Version()}
	require.False(t, a.Done())
	require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 100)), nil))
	require.True(t, a.Done())
	post(t, c, make([]byte, 100))
	require.False(t, a.Done())
	require.NoError(t, pe.rails[0].Deliver(encoded(request(1, 200)), nil))
	require.True(t, a.Done())
	require.EqualValues(t, 200, a.in.total)
}
