package strand

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/launch"
)

// half is one rank of a job within a process, of two ranks mostly.
type half struct {
	rank  int
	board *board
}

// board is what all have in common.
type board struct {
	sync.Map
	sync.WaitGroup // until all have come to the barrier
	ranks          int
}

func (h half) Rank() int         { return h.rank }
func (h half) Size() int         { return h.board.ranks }
func (h half) Name() string      { return "halves" }
func (h half) Hostname() string  { return "localhost" }
func (h half) Launcher() string  { return "test" }
func (h half) Abort(int, string) {}
func (h half) Close() error      { return nil }

func (h half) Put(_ context.Context, key, value string) error {
	h.board.Store(key, value)
	return nil
}

func (h half) Get(_ context.Context, key string) (string, error) {
	value, found := h.board.Load(key)
	if !found {
		return "", launch.ErrNoKey
	}
	return value.(string), nil
}

func (h half) Barrier(context.Context) error {
	h.board.Done()
	h.board.Wait()
	return nil
}

// halves opens the worlds of two ranks, which the test ends.
func halves(t *testing.T) (w [2]*World) { return [2]*World(fractions(t, 2)) }

// fractions opens the worlds of n ranks, which the test ends.
func fractions(t *testing.T, n int) []*World {
	w := make([]*World, n)
	b := &board{ranks: n}
	b.Add(n)
	var opened sync.WaitGroup
	for rank := range w {
		opened.Go(func() {
			var err error
			if w[rank], err = Init(t.Context(), WithJob(half{rank, b}), WithParam("btl", "tcp,self")); err != nil {
				t.Error(err)
			}
		})
	}
	opened.Wait()
	require.False(t, t.Failed())
	return w
}

// The sender of a message fails when it has matched, before any of it has come. Then the buffer that was to be replaced is as
// it was.
func TestReplacedByNothing(t *testing.T) {
	w := halves(t)
	defer w[0].drop()
	defer w[1].drop()
	const size = 1 << 20
	_, err := w[1].Comm().Issend(make([]byte, size), 0, 1)
	require.NoError(t, err)
	_, err = w[0].Comm().Probe(t.Context(), 1, 1)
	require.NoError(t, err)
	buf := bytes.Repeat([]byte{7}, size)
	w[1].pml.Locked(func() { // it does nothing any more
		w[0].pml.PeerFailed(1, "", errors.New("it stands still"))
		_, err = w[0].Comm().SendrecvReplace(t.Context(), buf, ProcNull, 0, 1, 1)
	})
	require.ErrorIs(t, err, ErrPeerFailed)
	require.Equal(t, size, bytes.Count(buf, []byte{7}))
}

// A message has come, and the call's context ends while the send waits. What is sent goes on from the buffer, which must not have the
// message then.
func TestNothingReplacesWhatIsUnderway(t *testing.T) {
	w := halves(t)
	defer w[0].drop()
	defer w[1].drop()
	const size = 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	buf := bytes.Repeat([]byte{7}, size)
	replaced := make(chan error)
	go func() {
		_, err := w[0].Comm().SendrecvReplace(ctx, buf, 1, 1, 1, 2)
		replaced <- err
	}()
	_, err := w[1].Comm().Probe(t.Context(), 0, 1)
	require.NoError(t, err)
	require.NoError(t, w[1].Comm().Ssend(t.Context(), []byte("message"), 0, 2))
	cancel()
	require.ErrorIs(t, <-replaced, ErrUnderway)
	require.Equal(t, size, bytes.Count(buf, []byte{7}))
	in := make([]byte, size)
	_, err = w[1].Comm().Recv(t.Context(), in, 0, 1)
	require.NoError(t, err)
	require.Equal(t, size, bytes.Count(in, []byte{7}))
}
