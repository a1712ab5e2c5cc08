package members_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/world"
)

// meet has two worlds exchange messages.
func meet(t *testing.T, w []*strand.World) {
	t.Helper()
	ctx := world.Context(t)
	for range 10 {
		require.NoError(t, w[0].Comm().Send(ctx, nil, 1, 1))
		_, err := w[1].Comm().Recv(ctx, nil, 0, 1)
		require.NoError(t, err)
		require.NoError(t, w[1].Comm().Send(ctx, nil, 0, 1))
		_, err = w[0].Comm().Recv(ctx, nil, 1, 1)
		require.NoError(t, err)
	}
}

// The lines for people come through WithLog, as many as verbose asks for, and all of them
// before Close returns.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		verbose string
		says    bool
	}{{"0", false}, {"1", true}} {
		lines := make(chan string, 1000)
		w := world.Open(t, 2, strand.WithParam("verbose", c.verbose), strand.WithLog(func(_ btl.LogLevel, line string) {
			lines <- line
		}))
		meet(t, w)
		world.Close(t, w...)
		assert.Equal(t, c.says, len(lines) > 0)
	}
}

// Whoever takes the lines may ask the world that they are about.
func TestLogMayUseTheWorld(t *testing.T) {
	var its atomic.Pointer[strand.World]
	var asked atomic.Int64
	w := world.Open(t, 2, strand.WithParam("verbose", "2"), strand.WithLog(func(btl.LogLevel, string) {
		if w := its.Load(); w != nil {
			w.Stats()
			w.Rails()
			_, _, err := w.Comm().Iprobe(strand.AnySource, strand.AnyTag)
			assert.True(t, err == nil || strings.Contains(err.Error(), strand.ErrClosed.Error()), "%v", err)
			asked.Add(1)
		}
	}))
	its.Store(w[0])
	meet(t, w)
	world.Close(t, w...)
	require.NotZero(t, asked.Load())
}

// Where nobody takes the lines, a full pipe for example, messages go on.
func TestBlockedLogStopsNothing(t *testing.T) {
	blocked, free := make(chan struct{}, 1000), make(chan struct{})
	w := world.Open(t, 2, strand.WithParam("verbose", "2"), strand.WithLog(func(btl.LogLevel, string) {
		blocked <- struct{}{}
		<-free
	}))
	meet(t, w)
	<-blocked
	close(free)
	world.Close(t, w...)
}
