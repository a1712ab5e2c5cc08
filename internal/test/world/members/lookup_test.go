package members_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/strandtest"
)

// mute is a job whose launcher does not answer questions about peers.
type mute struct{ *strandtest.Job }

func (m mute) Get(ctx context.Context, key string) (string, error) {
	if strings.HasPrefix(key, "strand-addr") {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return m.Job.Get(ctx, key)
}

// A peer whose address nobody tells has failed when one that is silent would have.
func TestLauncherThatDoesNotTell(t *testing.T) {
	leak.Check(t)
	worlds := make([]*strand.World, 2)
	var opening sync.WaitGroup
	for rank, job := range strandtest.NewJobs(2) {
		opening.Go(func() {
			var err error
			worlds[rank], err = strand.Init(t.Context(), strand.WithJob(mute{job}), strand.WithParam("pml_peer_timeout", "100ms"))
			assert.NoError(t, err)
		})
	}
	opening.Wait()
	err := worlds[0].Comm().Send(t.Context(), []byte("x"), 1, 0)
	var failed *strand.PeerFailedError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 1, failed.Rank)
	require.ErrorContains(t, err, "its addresses: the launcher has answered nothing for 100ms (pml_peer_timeout)")
	for _, w := range worlds {
		require.NoError(t, w.Close())
	}
}
