package members_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// calls are all ways to name a peer and a tag; each returns the call's error.
var calls = []struct {
	name    string
	sends   bool
	message string // what the error begins with
	do      func(ctx context.Context, c *strand.Comm, peer, tag int) error
}{
	{"Send", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error { return c.Send(ctx, nil, p, tag) }},
	{"Ssend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error { return c.Ssend(ctx, nil, p, tag) }},
	{"Bsend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error { return c.Bsend(ctx, nil, p, tag) }},
	{"Rsend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error { return c.Rsend(ctx, nil, p, tag) }},
	{"SendV", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error { return c.SendV(ctx, nil, p, tag) }},
	{"Isend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error { _, err := c.Isend(nil, p, tag); return err }},
	{"Issend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error { _, err := c.Issend(nil, p, tag); return err }},
	{"Ibsend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error { _, err := c.Ibsend(nil, p, tag); return err }},
	{"Irsend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error { _, err := c.Irsend(nil, p, tag); return err }},
	{"IsendV", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error { _, err := c.IsendV(nil, p, tag); return err }},
	{"Sendrecv", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Sendrecv(ctx, nil, p, tag, nil, 0, 1)
		return err
	}},
	{"generic Send", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		return strand.Send(ctx, c, []int32{1}, p, tag)
	}},
	{"generic Isend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := strand.Isend(c, []int32{1}, p, tag)
		return err
	}},
	{"generic Ssend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		return strand.Ssend(ctx, c, []int32{1}, p, tag)
	}},
	{"generic Bsend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		return strand.Bsend(ctx, c, []int32{1}, p, tag)
	}},
	{"generic Rsend", true, "send: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		return strand.Rsend(ctx, c, []int32{1}, p, tag)
	}},
	{"generic Issend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := strand.Issend(c, []int32{1}, p, tag)
		return err
	}},
	{"generic Ibsend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := strand.Ibsend(c, []int32{1}, p, tag)
		return err
	}},
	{"generic Irsend", true, "send: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := strand.Irsend(c, []int32{1}, p, tag)
		return err
	}},
	{"Recv", false, "receive: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Recv(ctx, nil, p, tag)
		return err
	}},
	{"RecvV", false, "receive: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.RecvV(ctx, nil, p, tag)
		return err
	}},
	{"Irecv", false, "receive: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Irecv(nil, p, tag)
		return err
	}},
	{"IrecvV", false, "receive: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.IrecvV(nil, p, tag)
		return err
	}},
	{"Sendrecv", false, "receive: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Sendrecv(ctx, nil, 0, 1, nil, p, tag)
		return err
	}},
	{"generic Recv", false, "receive: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, _, err := strand.Recv(ctx, c, []int32{1}, p, tag)
		return err
	}},
	{"generic Irecv", false, "receive: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, err := strand.Irecv(c, []int32{1}, p, tag)
		return err
	}},
	{"Probe", false, "probe: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Probe(ctx, p, tag)
		return err
	}},
	{"Iprobe", false, "probe: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, _, err := c.Iprobe(p, tag)
		return err
	}},
	{"Mprobe", false, "probe: ", func(ctx context.Context, c *strand.Comm, p, tag int) error {
		_, err := c.Mprobe(ctx, p, tag)
		return err
	}},
	{"Improbe", false, "probe: ", func(_ context.Context, c *strand.Comm, p, tag int) error {
		_, _, err := c.Improbe(p, tag)
		return err
	}},
}

func TestBadRank(t *testing.T) {
	c, ctx := world.Open(t, 2)[0].Comm(), world.Context(t)
	for _, call := range calls {
		for _, rank := range []int{2, math.MaxInt/2 + 1, -3, math.MinInt, strand.AnySource} {
			if rank == strand.AnySource && !call.sends {
				continue
			}
			err := call.do(ctx, c, rank, 1)
			require.ErrorIs(t, err, strand.ErrRank, "%s, rank %d", call.name, rank)
			what := "source "
			if call.sends {
				what = "destination "
			}
			require.ErrorContains(t, err, call.message+what+"bad rank: ")
			require.ErrorContains(t, err, " is not in 0 to 1")
		}
	}
	_, err := c.Irecv(nil, 7, 1)
	assert.EqualError(t, err, "receive: source bad rank: 7 is not in 0 to 1")
}

func TestBadTag(t *testing.T) {
	c, ctx := world.Open(t, 1)[0].Comm(), world.Context(t)
	above := strand.MaxTag
	above++ // where an int has 32 bits, the least of them
	bad := []int{-2, math.MinInt, above, strand.AnyTag}
	if math.MaxInt > strand.MaxTag {
		bad = append(bad, math.MaxInt, math.MaxInt/2+1)
	}
	for _, call := range calls {
		for _, tag := range bad {
			if tag == strand.AnyTag && !call.sends {
				continue
			}
			for _, peer := range []int{0, strand.ProcNull} {
				err := call.do(ctx, c, peer, tag)
				require.ErrorIs(t, err, strand.ErrTag, "%s, rank %d, tag %d", call.name, peer, tag)
				require.ErrorContains(t, err, call.message+"bad tag: ")
				require.ErrorContains(t, err, "0 to 2147483647")
			}
		}
	}
	_, err := c.Isend(nil, 0, strand.MaxTag)
	assert.NoError(t, err)
	_, err = c.Recv(ctx, nil, 0, strand.MaxTag)
	assert.NoError(t, err)
}

// A nil communicator, such as Split returns to who is in none, is an error.
func TestNilComm(t *testing.T) {
	ctx := world.Context(t)
	var c *strand.Comm
	for _, call := range calls {
		assert.ErrorIs(t, call.do(ctx, c, 0, 1), strand.ErrNilComm, call.name)
		assert.ErrorIs(t, call.do(ctx, c, strand.ProcNull, 1), strand.ErrNilComm, call.name)
	}
	assert.ErrorIs(t, c.Barrier(ctx), strand.ErrNilComm)
	_, err := c.Dup(ctx)
	assert.ErrorIs(t, err, strand.ErrNilComm)
	_, err = c.Split(ctx, 0, 0)
	assert.ErrorIs(t, err, strand.ErrNilComm)
	assert.ErrorIs(t, c.Free(), strand.ErrNilComm)
	assert.ErrorIs(t, c.AckFailed(), strand.ErrNilComm)
}

func TestFreedComm(t *testing.T) {
	w, ctx := world.Open(t, 1)[0], world.Context(t)
	c, err := w.Comm().Dup(ctx)
	require.NoError(t, err)
	require.NoError(t, c.Free())
	require.NoError(t, c.Free(), "a second time does nothing")
	for _, call := range calls {
		assert.ErrorIs(t, call.do(ctx, c, 0, 1), strand.ErrFreed, call.name)
	}
	_, err = c.Dup(ctx)
	assert.ErrorIs(t, err, strand.ErrFreed)
	_, err = c.Split(ctx, 0, 0)
	assert.ErrorIs(t, err, strand.ErrFreed)
	assert.ErrorIs(t, c.Barrier(ctx), strand.ErrFreed)
	assert.ErrorIs(t, w.Comm().Free(), strand.ErrWorldComm)
}

func TestClosedWorld(t *testing.T) {
	w, ctx := world.Open(t, 1)[0], world.Context(t)
	c := w.Comm()
	done, err := c.Irecv(nil, 0, 1)
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, nil, 0, 1))
	pending, err := c.Irecv(nil, 0, 2)
	require.NoError(t, err)
	_, err = done.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, call := range calls {
		assert.ErrorIs(t, call.do(ctx, c, 0, 1), strand.ErrClosed, call.name)
	}
	reqs := []strand.Request{pending}
	outcomes, err := strand.TestSome(reqs, nil)
	require.NoError(t, err)
	require.Len(t, outcomes, 1)
	assert.ErrorIs(t, outcomes[0].Err, strand.ErrClosed)
	_, err = c.Dup(ctx)
	assert.ErrorIs(t, err, strand.ErrClosed)
	_, err = c.Split(ctx, 0, 0)
	assert.ErrorIs(t, err, strand.ErrClosed)
	assert.NoError(t, c.AckFailed())
	assert.NoError(t, w.Close(), "a second time does nothing")
	assert.Zero(t, w.Stats().Truncated)
	w.Rails()
	w.Reasons()
}
