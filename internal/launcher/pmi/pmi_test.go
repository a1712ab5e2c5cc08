package pmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watchdog bounds what must not hang.
const watchdog = 30 * time.Second

// recorder keeps a server's events in order.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *recorder) Initialised(rank int) { r.note("init %d", rank) }
func (r *recorder) Finalised(rank int)   { r.note("finalise %d", rank) }
func (r *recorder) Aborted(rank int, a Abort) {
	r.note("abort %d %d %s", rank, a.Code, a.Message)
	if a.After >= 0 {
		r.note("after %d", a.After)
	}
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.events...)
}

// pair returns both ends of a stream socket.
func pair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		ends[i], err = net.FileConn(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	return ends[0], ends[1]
}

// job is a server with its clients, not initialised yet.
type job struct {
	*Server
	recorder
	clients []*Client
	served  []chan error // the result of each rank's Serve
}

func newJob(t testing.TB, size int) *job {
	t.Helper()
	j := &job{}
	var err error
	j.Server, err = NewServer("strand_test", size, &j.recorder)
	require.NoError(t, err)
	for rank := range size {
		near, far := pair(t)
		result := make(chan error, 1)
		go func() { result <- j.Serve(rank, near) }()
		j.clients = append(j.clients, NewClient(far))
		j.served = append(j.served, result)
	}
	t.Cleanup(func() {
		for _, c := range j.clients {
			_ = c.Drop()
		}
		j.Close()
	})
	return j
}

func (j *job) init(t *testing.T) *job {
	t.Helper()
	for _, c := range j.clients {
		require.NoError(t, c.Init(context.Background()))
	}
	return j
}

// each runs f for every rank at once.
func (j *job) each(t testing.TB, f func(rank int, c *Client) error) {
	t.Helper()
	errs := make([]error, len(j.clients))
	var all sync.WaitGroup
	for rank, c := range j.clients {
		all.Go(func() { errs[rank] = f(rank, c) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
}

func (j *job) result(t *testing.T, rank int) error {
	t.Helper()
	select {
	case err := <-j.served[rank]:
		return err
	case <-time.After(watchdog):
		t.Fatalf("rank %d is still served", rank)
		return nil
	}
}

func TestJob(t *testing.T) {
	const size, keys = 16, 200
	ctx := context.Background()
	j := newJob(t, size)
	j.each(t, func(rank int, c *Client) error {
		if err := c.Init(ctx); err != nil {
			return err
		}
		for round := range 3 {
			for k := range keys {
				if err := c.Put(ctx, fmt.Sprintf("key/%d/%d/%d", round, rank, k), fmt.Sprintf("value=%d", rank*k)); err != nil {
					return err
				}
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
			other := (rank + 5) % size
			for k := range keys {
				got, err := c.Get(ctx, fmt.Sprintf("key/%d/%d/%d", round, other, k))
				if err != nil {
					return err
				}
				if want := fmt.Sprintf("value=%d", other*k); got != want {
					return fmt.Errorf("rank %d: got %s, want %s", rank, got, want)
				}
			}
		}
		if err := c.Barrier(ctx); err != nil {
			return err
		}
		return c.Close(ctx)
	})
	for rank := range size {
		assert.NoError(t, j.result(t, rank))
	}
	assert.Len(t, j.all(), 2*size)
}

func TestKeys(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 1).init(t)
	c := j.clients[0]
	assert.Equal(t, "strand_test", c.Job())

	_, err := c.Get(ctx, "absent")
	assert.ErrorIs(t, err, ErrNoKey)
	assert.ErrorContains(t, err, `"absent"`)

	mapping, err := c.Get(ctx, MappingKey)
	require.NoError(t, err)
	assert.Equal(t, "(vector,(0,1,1))", mapping)

	longest := strings.Repeat("x", c.Limits().Value-1)
	assert.Greater(t, len(longest), 800)
	require.NoError(t, c.Put(ctx, "k", longest))
	got, err := c.Get(ctx, "k")
	require.NoError(t, err)
	assert.Equal(t, longest, got)

	for _, bad := range [][2]string{{"k", longest + "x"}, {"", "v"}, {"k", ""}, {"k", "a b"}, {"k\n", "v"}, {longest, "v"}} {
		assert.Error(t, c.Put(ctx, bad[0], bad[1]))
	}
	_, err = c.Get(ctx, "k")
	assert.NoError(t, err, "a refused put does not harm the conversation")
}

func TestDeadRankIsTold(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 3).init(t)
	_, err := j.clients[0].Get(ctx, DeadKey)
	require.ErrorIs(t, err, ErrNoKey)

	blocked := make(chan error, 1)
	go func() { blocked <- j.clients[0].Barrier(ctx) }()
	j.waitInBarrier(t, 1)
	j.MarkDead(2)
	j.MarkDead(2)
	assert.ErrorContains(t, <-blocked, "rank_2_has_failed")
	assert.ErrorContains(t, j.clients[1].Barrier(ctx), "rank_2_has_failed")
	dead, err := j.clients[1].Get(ctx, DeadKey)
	require.NoError(t, err)
	assert.Equal(t, "2", dead)
}

func TestBarrierWithoutWhoHasLeft(t *testing.T) {
	ctx := context.Background()
	j := newJob(t, 2).init(t)
	require.NoError(t, j.clients[1].Close(ctx))
	assert.ErrorContains(t, j.clients[0].Barrier(ctx), "rank_1_has_left")
}

// waitInBarrier returns when n ranks are in the barrier.
func (j *job) waitInBarrier(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		j.Server.mu.Lock()
		defer j.Server.mu.Unlock()
		return len(j.waiting) == n
	}, watchdog, time.Millisecond)
}

// A launcher can tell whom the ranks in a barrier wait for.
func TestMeeting(t *testing.T) {
	j := newJob(t, 4).init(t)
	come, missing := j.Meeting()
	assert.Empty(t, come)
	assert.Empty(t, missing)
	left := make(chan error, 2)
	for _, rank := range []int{3, 1} {
		go func() { left <- j.clients[rank].Barrier(context.Background()) }()
	}
	j.waitInBarrier(t, 2)
	come, missing = j.Meeting()
	assert.Equal(t, []int{1, 3}, come)
	assert.Equal(t, []int{0, 2}, missing)
	j.MarkDead(0)
	require.Error(t, <-left)
	require.Error(t, <-left)
	come, missing = j.Meeting()
	assert.Empty(t, come)
	assert.Empty(t, missing)
}

// An abort may say whose failure led to it, if that is a rank and another one.
func TestAbortAfter(t *testing.T) {
	for after, says := range map[int]bool{0: true, 1: false, 2: true, 3: false, -1: false} {
		j := newJob(t, 3).init(t)
		require.NoError(t, j.clients[1].AbortAfter(after, 7, "gone"))
		require.NoError(t, j.clients[1].Drop())
		want := []string{"abort 1 7 gone"}
		if says {
			want = append(want, fmt.Sprintf("after %d", after))
		}
		require.Eventually(t, func() bool { return len(j.all()) >= 3+len(want) }, watchdog, time.Millisecond)
		assert.Equal(t, want, j.all()[3:], "after %d", after)
	}
}

func TestAbort(t *testing.T) {
	j := newJob(t, 2).init(t)
	blocked := make(chan error, 1)
	go func() { blocked <- j.clients[1].Barrier(context.Background()) }()
	j.waitInBarrier(t, 1)
	require.NoError(t, j.clients[1].Abort(7, "no space left: 5 > 4\nreally"), "not held up by the barrier")
	require.NoError(t, j.clients[1].Drop())
	assert.ErrorIs(t, <-blocked, ErrClosed)
	assert.NoError(t, j.result(t, 1))
	assert.Contains(t, j.all(), "abort 1 7 no space left: 5 > 4\nreally")
}
