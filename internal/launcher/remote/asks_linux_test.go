package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// A remote shell that asks something at the terminal, as ssh does without BatchMode, is stopped for it: it is in the background. It
// will not go on, so nobody waits for it as for a host that is slow, and it ends as one that runs.
func TestShellThatAsks(t *testing.T) {
	leak.Check(t)
	h := Host{Name: "a", Shell: []string{"sh", "-c", "trap 'echo asked to end >&2; exit 1' TERM; kill -STOP $$; read never", "sh"}, Program: "strand", Patience: time.Hour}
	_, err := Connect(t.Context(), h, "test", nil)
	require.ErrorIs(t, err, errStopped)
	assert.ErrorContains(t, err, "host a: ")
	assert.ErrorContains(t, err, "BatchMode=yes")
	assert.ErrorContains(t, err, "asked to end", "before it was killed")
	assert.NotContains(t, err.Error(), "--push", "strand there is not to blame")
}

// A remote shell that hands on no input (ssh -n) has strand there introduce itself and end, as one that is only asked who it is.
func TestShellWithoutInput(t *testing.T) {
	leak.Check(t)
	h := Host{Name: "a", Shell: []string{"sh", "-c", `echo '{"strand":"test"}'`, "sh"}, Program: "strand", Patience: time.Hour}
	l, err := Connect(t.Context(), h, "test", nil)
	require.NoError(t, err)
	<-l.ended
	_, err = l.Start(t.Context(), Order{Program: "true", Size: 1, Ranks: []int{0}}, nil, nil)
	require.ErrorContains(t, err, "the connection to host a is lost: strand there has ended")
	assert.ErrorContains(t, err, "ssh -n")
	assert.NotContains(t, err.Error(), "pipe")
}
