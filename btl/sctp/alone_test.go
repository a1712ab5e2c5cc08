package sctp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// alone is a process without others in its job.
type alone struct{ *node }

func (alone) Size() int { return 1 }

// Nobody connects to a process that is alone in its job: it opens no socket.
func TestAloneNothingListens(t *testing.T) {
	mods, err := Component{}.Open(alone{newNode(t, 0)})
	require.NoError(t, err)
	m := mods[0].(*module)
	require.Zero(t, m.stack.Port())
	require.False(t, m.Progress())
	require.Nil(t, m.Address())
	require.NoError(t, m.Close())
}
