package local

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// A launcher that the kernel would end before all others is not as near to its end as its ranks.
func TestLauncherThatIsToBeEndedFirst(t *testing.T) {
	before, err := badness("self")
	require.NoError(t, err)
	for _, own := range []int{mostBadness, mostBadness - leastLead/2} {
		require.NoError(t, setBadness("self", own))
		err = setBadness("self", own-1)
		need.That(t, err == nil, "needs CAP_SYS_RESOURCE: %v", err)
		require.NoError(t, setBadness("self", own))
		rank := exec.CommandContext(t.Context(), "cat")
		input, err := rank.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, rank.Start())
		killFirst(rank.Process.Pid)
		theirs, err := badness(strconv.Itoa(rank.Process.Pid))
		require.NoError(t, err)
		ours, err := badness("self")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, theirs-ours, leastLead)
		require.NoError(t, input.Close())
		require.NoError(t, rank.Wait())
	}
	require.NoError(t, setBadness("self", before))
}
