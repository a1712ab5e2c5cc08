package requests_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// A request ends once, for all its copies; who asks again is told so.
func TestRequestEndsOnce(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		in := p.Irecv(make([]byte, 1), p.From, 1)
		copied := in
		p.Pending(in, "nothing was sent")
		out := p.Isend([]byte{5}, 1)
		p.Wait(in)
		p.Wait(out)
		for range 3 {
			_, err := copied.Wait(p.Ctx)
			require.ErrorIs(p, err, strand.ErrFinished)
			_, done, err := copied.Test()
			require.True(p, done)
			require.ErrorIs(p, err, strand.ErrFinished)
			require.False(p, copied.Cancel())
		}
		require.ErrorIs(p, strand.WaitAll(p.Ctx, []strand.Request{copied}, nil), strand.ErrFinished)

		var zero strand.Request
		_, err := zero.Wait(p.Ctx)
		require.NoError(p, err)
		_, done, err := zero.Test()
		require.True(p, done)
		require.NoError(p, err)
		require.False(p, zero.Cancel())
	})
}

// The status of no request is empty, and so is that of a wait for none: rank 0 has sent nothing, with
// tag 0, that anybody could take it for (MPI 4.1, section 3.7.3).
func TestStatusOfNoRequest(t *testing.T) {
	empty := strand.Status{Source: strand.AnySource, Tag: strand.AnyTag}
	world.OnEach(t, func(p *world.Pair) {
		var none strand.Request
		st, err := none.Wait(p.Ctx)
		require.NoError(p, err)
		assert.Equal(p, empty, st)
		st, done, err := none.Test()
		require.NoError(p, err)
		require.True(p, done)
		assert.Equal(p, empty, st)

		_, st, err = strand.WaitAny(p.Ctx, make([]strand.Request, 2))
		require.NoError(p, err)
		assert.Equal(p, empty, st)
		_, st, done, err = strand.TestAny(nil)
		require.NoError(p, err)
		require.True(p, done)
		assert.Equal(p, empty, st)

		in := p.Irecv(make([]byte, 1), p.From, 1)
		p.Wait(p.Isend([]byte{5}, 1))
		got := strand.Status{Source: p.From, Tag: 1, Count: 1}
		for _, c := range []struct {
			reqs []strand.Request
			want []strand.Status
		}{
			{make([]strand.Request, 2), []strand.Status{empty, empty}},
			{[]strand.Request{none, in}, []strand.Status{empty, got}},
			{[]strand.Request{none, none}, []strand.Status{empty, empty}},
		} {
			statuses := make([]strand.Status, 2)
			require.NoError(p, strand.WaitAll(p.Ctx, c.reqs, statuses))
			assert.Equal(p, c.want, statuses)
			done, err := strand.TestAll(c.reqs, statuses)
			require.NoError(p, err)
			require.True(p, done)
			assert.Equal(p, []strand.Status{empty, empty}, statuses)
		}

		// ProcNull is a source, with which a receive has no message.
		in, err = p.Receiver.Irecv(make([]byte, 1), strand.ProcNull, 1)
		require.NoError(p, err)
		st, err = in.Wait(p.Ctx)
		require.NoError(p, err)
		assert.Equal(p, strand.Status{Source: strand.ProcNull, Tag: strand.AnyTag}, st)
	})
}

// Several goroutines that wait for one request: one gets the outcome, the others
// are told that it has ended; none hangs, and nothing is freed twice.
func TestManyWaitForOneRequest(t *testing.T) {
	const waiters = 8
	world.OnEach(t, func(p *world.Pair) {
		for round := range 20 {
			in := p.Irecv(make([]byte, 1), p.From, 1)
			outcomes := make(chan error, waiters)
			for range waiters {
				go func() {
					_, err := in.Wait(p.Ctx)
					outcomes <- err
				}()
			}
			if round%2 == 0 || !in.Cancel() {
				p.Wait(p.Isend([]byte{1}, 1))
			}
			ended := 0
			for range waiters {
				if err := <-outcomes; err == nil {
					ended++
				} else {
					require.ErrorIs(p, err, strand.ErrFinished)
				}
			}
			require.Equal(p, 1, ended)
		}
		// The operations are not mixed up afterwards.
		a, b := p.Irecv(make([]byte, 1), p.From, 1), p.Irecv(make([]byte, 1), p.From, 2)
		p.Wait(p.Isend([]byte{2}, 2))
		p.Wait(b)
		p.Pending(a, "its message was not sent")
		p.TakeBack(a)
	})
}

func TestCancel(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for _, n := range []int{4, 400_000} {
			buf := make([]byte, n)
			in := p.Irecv(buf, p.From, 1)
			p.TakeBack(in)
			data := world.Pattern(n, 1)
			out := p.Isend(data, 1)
			p.Settle()
			world.Equal(p, make([]byte, n), buf, "the buffer is the caller's again")
			p.Recv(data, 1) // the message goes to the next receive
			p.Wait(out)

			in = p.Irecv(buf, p.From, 1)
			out = p.Isend(data, 1)
			p.Settle()
			require.False(p, in.Cancel(), "it has matched")
			require.Equal(p, n, p.Wait(in).Count)
			world.Equal(p, data, buf, "%d bytes", n)
			p.Wait(out)
			require.False(p, out.Cancel(), "sends can not be cancelled")
		}
	})
}

// A cancelled receive is a request like any other: whatever waits for it or tests it
// completes, without an error, and says what became of it.
func TestCancelledRequestsComplete(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		gone := strand.Status{Source: strand.AnySource, Tag: strand.AnyTag, Cancelled: true}
		cancelled := func() []strand.Request {
			in := p.Irecv(make([]byte, 1), p.From, 1)
			require.True(p, in.Cancel())
			require.False(p, in.Cancel(), "once")
			return []strand.Request{in}
		}
		st, done, err := cancelled()[0].Test()
		require.NoError(p, err)
		require.True(p, done)
		require.Equal(p, gone, st)

		statuses := make([]strand.Status, 2)
		reqs := append(cancelled(), p.Irecv(make([]byte, 1), p.From, 1))
		out := p.Isend([]byte{7}, 1)
		require.NoError(p, strand.WaitAll(p.Ctx, reqs, statuses))
		p.Wait(out)
		require.Equal(p, gone, statuses[0])
		require.Equal(p, strand.Status{Source: p.From, Tag: 1, Count: 1}, statuses[1])

		done, err = strand.TestAll(cancelled(), statuses[:1])
		require.NoError(p, err)
		require.True(p, done)
		require.Equal(p, gone, statuses[0])

		i, st, err := strand.WaitAny(p.Ctx, cancelled())
		require.NoError(p, err)
		require.Zero(p, i)
		require.Equal(p, gone, st)
		some, err := strand.WaitSome(p.Ctx, cancelled(), nil)
		require.NoError(p, err)
		require.Equal(p, []strand.Outcome{{Status: gone}}, some)
		some, err = strand.TestSome(cancelled(), nil)
		require.NoError(p, err)
		require.Equal(p, []strand.Outcome{{Status: gone}}, some)

		// Who waits already is told too.
		blocked := p.Irecv(make([]byte, 1), p.From, 1)
		waited := make(chan strand.Status)
		go func() {
			st, _ := blocked.Wait(p.Ctx)
			waited <- st
		}()
		require.True(p, blocked.Cancel())
		require.Equal(p, gone, <-waited)
	})
}

func TestWaitAll(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		var reqs []strand.Request
		bufs := make([][]byte, len(world.Sizes))
		for i, n := range world.Sizes {
			bufs[i] = make([]byte, n)
			reqs = append(reqs, p.Irecv(bufs[i], p.From, i), strand.Request{})
		}
		sends := make([]strand.Request, len(world.Sizes)) // of another world, so they are waited for apart
		for i, n := range world.Sizes {
			sends[i] = p.Isend(world.Pattern(n, i), i)
		}
		done, err := strand.TestAll([]strand.Request{p.Irecv(nil, p.From, 500)}, nil)
		require.NoError(p, err)
		require.False(p, done)
		p.Wait(p.Isend(nil, 500))

		statuses := make([]strand.Status, len(reqs))
		require.NoError(p, strand.WaitAll(p.Ctx, reqs, statuses))
		require.NoError(p, strand.WaitAll(p.Ctx, sends, nil))
		for i, n := range world.Sizes {
			require.Equal(p, strand.Status{Source: p.From, Tag: i, Count: n}, statuses[2*i])
			world.Equal(p, world.Pattern(n, i), bufs[i], "%d bytes", n)
		}
		for _, r := range reqs {
			require.Zero(p, r)
		}
		require.NoError(p, strand.WaitAll(p.Ctx, reqs, statuses), "all are zero")
		for _, st := range statuses {
			require.Equal(p, strand.Status{Source: strand.AnySource, Tag: strand.AnyTag}, st)
		}
		done, err = strand.TestAll(reqs, statuses)
		require.NoError(p, err)
		require.True(p, done)
	})
}

// The error says which requests have failed and why each has, all requests have ended, and
// what became of the others is told as well.
func TestWaitAllWithErrors(t *testing.T) {
	calls := map[string]func(context.Context, []strand.Request, []strand.Status) error{
		"WaitAll": strand.WaitAll,
		"TestAll": func(ctx context.Context, reqs []strand.Request, statuses []strand.Status) error {
			for {
				if done, err := strand.TestAll(reqs, statuses); done || ctx.Err() != nil {
					return err
				}
			}
		},
	}
	world.OnEach(t, func(p *world.Pair) {
		for name, all := range calls {
			reqs := []strand.Request{
				p.Irecv(make([]byte, 9), p.From, 1), p.Irecv(make([]byte, 5), p.From, 2), {}, p.Irecv(make([]byte, 4), p.From, 3),
			}
			sends := []strand.Request{p.Isend(make([]byte, 9), 1), p.Isend(make([]byte, 9), 2), p.Isend(make([]byte, 9), 3)}
			statuses := make([]strand.Status, len(reqs))
			err := all(p.Ctx, reqs, statuses)
			var failed *strand.WaitError
			require.ErrorAs(p, err, &failed, name)
			require.Equal(p, 4, failed.Of)
			require.Len(p, failed.Failed, 2, name)
			for i, want := range []struct{ place, tag, room int }{{1, 2, 5}, {3, 3, 4}} {
				o := failed.Failed[i]
				require.Equal(p, want.place, o.Index, name)
				require.Equal(p, statuses[want.place], o.Status, name)
				var e *strand.TruncateError
				require.ErrorAs(p, o.Err, &e)
				require.Equal(p, strand.TruncateError{Source: p.From, Tag: want.tag, Message: 9, Buffer: int64(want.room)}, *e)
			}
			require.ErrorIs(p, err, strand.ErrTruncated)
			require.EqualError(p, err, "2 of 4 requests failed: request 1: "+failed.Failed[0].Err.Error()+"; request 3: "+failed.Failed[1].Err.Error())
			require.NoError(p, strand.WaitAll(p.Ctx, sends, nil))
			require.Equal(p, []int{9, 5, 0, 4}, []int{statuses[0].Count, statuses[1].Count, statuses[2].Count, statuses[3].Count})
			require.Equal(p, make([]strand.Request, len(reqs)), reqs)
		}
	})
}

// The text of the error stays short, however many requests have failed.
func TestWaitErrorText(t *testing.T) {
	e := &strand.WaitError{Of: 1000}
	for i := range 900 {
		e.Failed = append(e.Failed, strand.Outcome{Index: i + 50, Err: strand.ErrFreed})
	}
	require.EqualError(t, e, "900 of 1000 requests failed: request 50: communicator is freed; request 51: communicator is freed; "+
		"request 52: communicator is freed; and 897 more")
}

func TestWaitAny(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		const n = 20
		reqs := make([]strand.Request, n)
		for i := range reqs {
			reqs[i] = p.Irecv(make([]byte, 100), p.From, i)
		}
		i, _, done, err := strand.TestAny(reqs)
		require.NoError(p, err)
		require.False(p, done)
		require.Equal(p, -1, i)
		for i := range n {
			tag := (i*7 + 3) % n
			out := p.Isend(make([]byte, i), tag)
			at, st, err := strand.WaitAny(p.Ctx, reqs)
			require.NoError(p, err)
			require.Equal(p, tag, at)
			require.Equal(p, strand.Status{Source: p.From, Tag: tag, Count: i}, st)
			require.Zero(p, reqs[at])
			p.Wait(out)
		}
		i, st, err := strand.WaitAny(p.Ctx, reqs)
		require.NoError(p, err)
		require.Equal(p, -1, i, "none is left")
		require.Equal(p, strand.Status{Source: strand.AnySource, Tag: strand.AnyTag}, st)
		i, _, done, err = strand.TestAny(reqs)
		require.NoError(p, err)
		require.True(p, done)
		require.Equal(p, -1, i)
	})
}

func TestWaitSome(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		const n = 30
		reqs, sends := make([]strand.Request, n), make([]strand.Request, n)
		for i := range reqs {
			reqs[i] = p.Irecv(make([]byte, 10), p.From, i)
		}
		none, err := strand.TestSome(reqs, nil)
		require.NoError(p, err)
		require.Empty(p, none)
		for i := range n {
			sends[i] = p.Isend(make([]byte, i%20), i) // some too long
		}
		seen := make(map[int]bool)
		for len(seen) < n {
			outcomes, err := strand.WaitSome(p.Ctx, reqs, nil)
			require.NoError(p, err)
			require.NotEmpty(p, outcomes)
			for _, o := range outcomes {
				require.False(p, seen[o.Index])
				seen[o.Index] = true
				require.Equal(p, strand.Status{Source: p.From, Tag: o.Index, Count: min(o.Index%20, 10)}, o.Status)
				require.Equal(p, o.Index%20 > 10, errors.Is(o.Err, strand.ErrTruncated))
				require.Zero(p, reqs[o.Index])
			}
		}
		outcomes, err := strand.WaitSome(p.Ctx, reqs, nil)
		require.NoError(p, err)
		require.Empty(p, outcomes)
		require.NoError(p, strand.WaitAll(p.Ctx, sends, nil))
	})
}

// Test makes progress: a loop of nothing else comes to its end.
func TestTestLoop(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		data, buf := world.Pattern(500_000, 3), make([]byte, 500_000)
		in, out := p.Irecv(buf, p.From, 1), p.Isend(data, 1)
		for received, sent := false, false; !received || !sent; {
			require.NoError(p, p.Ctx.Err())
			if !sent {
				_, done, err := out.Test()
				require.NoError(p, err)
				sent = done
			}
			if !received {
				_, done, err := in.Test()
				require.NoError(p, err)
				received = done
			}
		}
		world.Equal(p, data, buf, "received")
	})
}

// A context that ends makes Wait return; the operation goes on, and the request
// may be waited for again.
func TestContextEndsInWait(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		over, cancel := context.WithCancel(p.Ctx)
		defer cancel()
		buf := make([]byte, 300_000)
		in := p.Irecv(buf, p.From, 1)
		ended := make(chan error, 1)
		go func() {
			_, err := in.Wait(over)
			ended <- err
		}()
		cancel()
		require.Equal(p, context.Canceled, <-ended)
		_, err := in.Wait(over)
		require.Equal(p, context.Canceled, err, "it is over before the wait begins")
		reqs := []strand.Request{in}
		require.Equal(p, context.Canceled, strand.WaitAll(over, reqs, nil))
		_, _, err = strand.WaitAny(over, reqs)
		require.Equal(p, context.Canceled, err)
		_, err = strand.WaitSome(over, reqs, nil)
		require.Equal(p, context.Canceled, err)
		require.Equal(p, in, reqs[0])

		data := world.Pattern(len(buf), 1)
		out := p.Isend(data, 1)
		p.Wait(in)
		p.Wait(out)
		world.Equal(p, data, buf, "received after all")
	})
}

// A receive whose context ends is over: the buffer is the caller's, the message
// goes to the next receive.
func TestContextEndsInRecv(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		over, cancel := context.WithCancel(p.Ctx)
		defer cancel()
		buf := make([]byte, 300_000)
		ended := make(chan error, 1)
		go func() {
			_, err := p.Receiver.Recv(over, buf, p.From, 1)
			ended <- err
		}()
		cancel()
		require.Equal(p, context.Canceled, <-ended)
		for _, n := range []int{100, 300_000} {
			_, err := p.Receiver.Recv(over, buf, p.From, 1)
			require.Equal(p, context.Canceled, err)
			_, err = p.Receiver.Sendrecv(over, nil, strand.ProcNull, 0, buf, p.From, 1)
			require.Equal(p, context.Canceled, err)
			data := world.Pattern(n, 1)
			out := p.Isend(data, 1)
			p.Settle()
			world.Equal(p, make([]byte, len(buf)), buf, "the buffer is the caller's")
			p.Recv(data, 1)
			p.Wait(out)
		}
	})
}

// A long message stays to be received where a context has ended before the receive.
func TestContextHasEndedBeforeReceiving(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		const n = 600_000
		over, cancel := context.WithCancel(p.Ctx)
		cancel()
		buf := make([]byte, n)
		out := p.Isend(world.Pattern(n, 1), 1)
		p.Settle() // the message is there, its data is not
		_, err := p.Receiver.Recv(over, buf, p.From, 1)
		require.Equal(p, context.Canceled, err)
		p.Recv(world.Pattern(n, 1), 1) // it stays to be received
		p.Wait(out)

		out = p.Isend(world.Pattern(n, 2), 1)
		m, err := p.Receiver.Mprobe(p.Ctx, p.From, 1)
		require.NoError(p, err)
		_, err = m.Recv(over, buf)
		require.Equal(p, context.Canceled, err)
		p.Settle()
		world.Equal(p, make([]byte, n), buf, "nothing comes to a buffer that nobody receives into")
		got := make([]byte, n)
		_, err = m.Recv(p.Ctx, got)
		require.NoError(p, err)
		world.Equal(p, world.Pattern(n, 2), got, "the matched message")
		p.Wait(out)
	})
}

// A send whose context ends goes on by itself.
func TestContextEndsInSend(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for i, n := range []int{0, 100, 5000, 500_000} {
			over, cancel := context.WithCancel(p.Ctx)
			defer cancel()
			data := world.Pattern(n, i)
			ended := make(chan error, 1)
			go func() { ended <- p.Sender.Ssend(over, data, p.To, i) }()
			_, err := p.Receiver.Probe(p.Ctx, p.From, i)
			require.NoError(p, err)
			cancel()
			err = <-ended
			require.ErrorIs(p, err, context.Canceled)
			require.ErrorIs(p, err, strand.ErrUnderway)
			p.Recv(data, i)

			require.Equal(p, context.Canceled, p.Sender.Ssend(over, data, p.To, i), "it has ended already: nothing is sent")
			p.Settle()
			_, found, err := p.Receiver.Iprobe(p.From, i)
			require.NoError(p, err)
			require.False(p, found)
		}
	})
}

func TestContextEndsInProbe(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		over, cancel := context.WithCancel(p.Ctx)
		defer cancel()
		ended := make(chan error, 2)
		go func() {
			_, err := p.Receiver.Probe(over, p.From, 1)
			ended <- err
		}()
		go func() {
			_, err := p.Receiver.Mprobe(over, strand.AnySource, 1)
			ended <- err
		}()
		cancel()
		require.Equal(p, context.Canceled, <-ended)
		require.Equal(p, context.Canceled, <-ended)
		out := p.Isend([]byte{1}, 1)
		p.Recv([]byte{1}, 1)
		p.Wait(out)
	})
}

// A deadline is told apart from a cancellation.
func TestDeadline(t *testing.T) {
	w := world.Open(t, 1)
	over, cancel := context.WithTimeout(world.Context(t), 1)
	defer cancel()
	_, err := w[0].Comm().Recv(over, nil, 0, 1)
	assert.Equal(t, context.DeadlineExceeded, err)
}
