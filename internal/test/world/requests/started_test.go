package requests_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// A beginning starts an operation of the sender's world and returns its request, and
// what has to happen for it to complete.
type beginning struct {
	name  string
	start func(*world.Pair) (r strand.Request, finish func())
}

func nothing() {}

// sending is the beginning of a send of n bytes, which the other side then receives.
func sending(name string, n int, start func(p *world.Pair, b []byte) (strand.Request, error)) beginning {
	return beginning{name, func(p *world.Pair) (strand.Request, func()) {
		data := world.Pattern(n, 3)
		r, err := start(p, data)
		require.NoError(p, err)
		return r, func() { p.Recv(data, 3) }
	}}
}

// receiving is the beginning of a receive of a message from the sender to itself.
func receiving(name string, start func(p *world.Pair, own int) (strand.Request, func())) beginning {
	return beginning{name, func(p *world.Pair) (strand.Request, func()) { return start(p, p.Sender.Rank()) }}
}

var beginnings = []beginning{
	sending("Isend, empty", 0, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Isend(b, p.To, 3) }),
	sending("Isend, short", 8, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Isend(b, p.To, 3) }),
	sending("Isend, copied", 5000, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Isend(b, p.To, 3) }),
	sending("Isend, long", 1<<20, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Isend(b, p.To, 3) }),
	sending("IsendV", 8, func(p *world.Pair, b []byte) (strand.Request, error) {
		return p.Sender.IsendV([][]byte{b[:3], b[3:]}, p.To, 3)
	}),
	sending("Isend of values", 8, func(p *world.Pair, b []byte) (strand.Request, error) { return strand.Isend(p.Sender, b, p.To, 3) }),
	sending("Irsend", 8, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Irsend(b, p.To, 3) }),
	sending("Issend", 8, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Issend(b, p.To, 3) }),
	sending("Ibsend, empty", 0, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Ibsend(b, p.To, 3) }),
	sending("Ibsend, long", 1<<20, func(p *world.Pair, b []byte) (strand.Request, error) { return p.Sender.Ibsend(b, p.To, 3) }),
	{"Isend to nobody", func(p *world.Pair) (strand.Request, func()) {
		r, err := p.Sender.Isend(nil, strand.ProcNull, 3)
		require.NoError(p, err)
		return r, nothing
	}},
	{"Irecv from nobody", func(p *world.Pair) (strand.Request, func()) {
		r, err := p.Sender.Irecv(nil, strand.ProcNull, 3)
		require.NoError(p, err)
		return r, nothing
	}},
	receiving("Irecv", func(p *world.Pair, own int) (strand.Request, func()) {
		r, err := p.Sender.Irecv(make([]byte, 8), own, 4)
		require.NoError(p, err)
		return r, func() { require.NoError(p, p.Sender.Send(p.Ctx, make([]byte, 8), own, 4)) }
	}),
	receiving("Irecv, cancelled", func(p *world.Pair, own int) (strand.Request, func()) {
		r, err := p.Sender.Irecv(make([]byte, 8), own, 4)
		require.NoError(p, err)
		require.True(p, r.Cancel())
		return r, nothing
	}),
	receiving("Imrecv", func(p *world.Pair, own int) (strand.Request, func()) {
		require.NoError(p, p.Sender.Bsend(p.Ctx, []byte{1}, own, 4))
		m, err := p.Sender.Mprobe(p.Ctx, own, 4)
		require.NoError(p, err)
		r, err := m.Irecv(make([]byte, 1))
		require.NoError(p, err)
		return r, nothing
	}),
	{"Imrecv from nobody", func(p *world.Pair) (strand.Request, func()) {
		m, err := p.Sender.Mprobe(p.Ctx, strand.ProcNull, 4)
		require.NoError(p, err)
		r, err := m.Irecv(nil)
		require.NoError(p, err)
		return r, nothing
	}},
}

// An ending waits for, or tests until done, one request at least among several, and
// returns what has ended.
type ending struct {
	name string
	end  func(ctx context.Context, reqs []strand.Request) []strand.Outcome
}

var endings = []ending{
	{"WaitAny", func(ctx context.Context, reqs []strand.Request) []strand.Outcome {
		i, st, err := strand.WaitAny(ctx, reqs)
		return []strand.Outcome{{Index: i, Status: st, Err: err}}
	}},
	{"WaitSome", func(ctx context.Context, reqs []strand.Request) []strand.Outcome {
		out, err := strand.WaitSome(ctx, reqs, nil)
		if err != nil {
			return []strand.Outcome{{Index: -1, Err: err}}
		}
		return out
	}},
	{"TestAny", func(ctx context.Context, reqs []strand.Request) []strand.Outcome {
		for ctx.Err() == nil {
			if i, st, done, err := strand.TestAny(reqs); done {
				return []strand.Outcome{{Index: i, Status: st, Err: err}}
			}
		}
		return []strand.Outcome{{Index: -1, Err: ctx.Err()}}
	}},
	{"TestSome", func(ctx context.Context, reqs []strand.Request) []strand.Outcome {
		for ctx.Err() == nil {
			out, err := strand.TestSome(reqs, nil)
			if err != nil {
				return []strand.Outcome{{Index: -1, Err: err}}
			}
			if len(out) > 0 {
				return out
			}
		}
		return []strand.Outcome{{Index: -1, Err: ctx.Err()}}
	}},
}

// A request that was started is never mistaken for none: among others, of which one
// is none and one not complete, each function returns it, once. After that it is none
// (MPI 4.1, section 3.7.3: MPI_REQUEST_NULL).
func TestStartedRequestIsReturnedOnce(t *testing.T) {
	world.OnTransports(t, func(p *world.Pair) {
		p.Settle() // what is sent to a peer that was not met waits for the connection
		for _, b := range beginnings {
			for _, e := range endings {
				never, err := p.Sender.Irecv(nil, p.Sender.Rank(), 77)
				require.NoError(p, err)
				r, finish := b.start(p)
				require.NotZero(p, r, "%s: it was started", b.name)
				finish()
				reqs := []strand.Request{{}, never, r}
				out := e.end(p.Ctx, reqs)
				require.Len(p, out, 1, "%s, %s", b.name, e.name)
				require.Equal(p, 2, out[0].Index, "%s, %s", b.name, e.name)
				require.NoError(p, out[0].Err, "%s, %s", b.name, e.name)
				require.Equal(p, []strand.Request{{}, never, {}}, reqs, "%s, %s", b.name, e.name)
				i, _, done, err := strand.TestAny(reqs)
				require.NoError(p, err)
				require.False(p, done, "%s, %s: returned again, as %d", b.name, e.name, i)
				require.True(p, never.Cancel())
				require.NoError(p, strand.WaitAll(p.Ctx, reqs, nil))
			}
		}
	})
}

// By itself, too, such a request is waited for, tested and passed over by Cancel.
func TestStartedRequestAlone(t *testing.T) {
	world.OnTransports(t, func(p *world.Pair) {
		p.Settle()
		for _, b := range beginnings {
			start := func() strand.Request {
				r, finish := b.start(p)
				finish()
				return r
			}
			r := start()
			_, err := r.Wait(p.Ctx)
			require.NoError(p, err, b.name)
			require.False(p, r.Cancel(), b.name)

			r = start()
			for done := false; !done; {
				require.NoError(p, p.Ctx.Err())
				_, done, err = r.Test()
				require.NoError(p, err, b.name)
			}

			reqs, statuses := []strand.Request{start(), {}}, make([]strand.Status, 2)
			require.NoError(p, strand.WaitAll(p.Ctx, reqs, statuses), b.name)
			require.Equal(p, make([]strand.Request, 2), reqs, b.name)
			reqs[0] = start()
			for done := false; !done; {
				require.NoError(p, p.Ctx.Err())
				done, err = strand.TestAll(reqs, statuses)
				require.NoError(p, err, b.name)
			}
			require.Equal(p, make([]strand.Request, 2), reqs, b.name)
		}
	})
}

// A receive that is too short for its message is returned like any other.
func TestTruncatedRequestIsReturnedOnce(t *testing.T) {
	world.OnTransports(t, func(p *world.Pair) {
		for _, e := range endings {
			reqs := []strand.Request{{}, p.Irecv(make([]byte, 2), p.From, 5)}
			p.Wait(p.Isend(make([]byte, 3), 5))
			out := e.end(p.Ctx, reqs)
			require.Len(p, out, 1, e.name)
			require.Equal(p, 1, out[0].Index, e.name)
			require.ErrorIs(p, out[0].Err, strand.ErrTruncated, e.name)
			require.Equal(p, make([]strand.Request, 2), reqs, e.name)
		}
	})
}

// A loop that waits for whichever is complete, of sends and receives, comes to its end
// and sees each once.
func TestLoopOverSendsAndReceives(t *testing.T) {
	const n = 50
	world.OnTransports(t, func(p *world.Pair) {
		for _, e := range endings {
			var reqs []strand.Request
			for i := range n {
				r, err := p.Sender.Irecv(make([]byte, 1), p.To, i)
				require.NoError(p, err)
				reqs = append(reqs, p.Isend([]byte{1}, n+i), r)
			}
			for i := range n {
				p.Recv([]byte{1}, n+i)
				r, err := p.Receiver.Isend([]byte{2}, p.From, i)
				require.NoError(p, err)
				p.Wait(r)
			}
			seen := make(map[int]bool)
			for len(seen) < len(reqs) {
				for _, o := range e.end(p.Ctx, reqs) {
					require.NoError(p, o.Err, e.name)
					require.GreaterOrEqual(p, o.Index, 0, "%s: none is left, but %d were not seen", e.name, len(reqs)-len(seen))
					require.False(p, seen[o.Index], "%s: %d twice", e.name, o.Index)
					seen[o.Index] = true
				}
			}
		}
	})
}

// Requests of two worlds in one call are an error that says which and ends nothing.
func TestRequestsOfTwoWorlds(t *testing.T) {
	w, ctx := world.Open(t, 2), world.Context(t)
	const want = "request 2 is of the world of rank 1"
	var reqs []strand.Request
	for _, c := range []*strand.Comm{w[0].Comm(), w[0].Comm(), w[1].Comm()} {
		r, err := c.Irecv(nil, strand.AnySource, 1)
		require.NoError(t, err)
		reqs = append(reqs, r)
	}
	before := append([]strand.Request(nil), reqs...)
	require.ErrorContains(t, strand.WaitAll(ctx, reqs, nil), want)
	_, _, err := strand.WaitAny(ctx, reqs)
	require.ErrorContains(t, err, want)
	_, err = strand.WaitSome(ctx, reqs, nil)
	require.ErrorContains(t, err, want)
	_, _, done, err := strand.TestAny(reqs)
	require.False(t, done)
	require.ErrorContains(t, err, want)
	out, err := strand.TestSome(reqs, nil)
	require.Empty(t, out)
	require.ErrorContains(t, err, want)
	require.Equal(t, before, reqs)
	for _, r := range reqs {
		require.True(t, r.Cancel())
	}
	done, err = strand.TestAll(reqs, nil)
	require.False(t, done)
	require.ErrorContains(t, err, want)
}

// TestAll of none fills the statuses, as WaitAll does, and like it wants as many as
// there are requests.
func TestTestAllOfNone(t *testing.T) {
	reqs, statuses := make([]strand.Request, 2), []strand.Status{{Count: 1}, {Count: 2}}
	done, err := strand.TestAll(reqs, statuses)
	require.NoError(t, err)
	require.True(t, done)
	empty := strand.Status{Source: strand.AnySource, Tag: strand.AnyTag}
	require.Equal(t, []strand.Status{empty, empty}, statuses)
	done, err = strand.TestAll(reqs, statuses[:1])
	require.False(t, done)
	require.ErrorContains(t, err, "there are 1 statuses to fill")
}
