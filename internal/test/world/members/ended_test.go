package members_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// A call whose context has ended before it does nothing: no message is sent, none is
// taken, and what was there stays to be received, in its order.
func TestEndedContextBeforeTheCall(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		ended, cancel := context.WithCancel(p.Ctx)
		cancel()
		for _, n := range []int{0, 100, 5000, 1 << 20} {
			outs := []strand.Request{p.Isend(world.Pattern(n, 1), 1)}
			last, err := p.Sender.Issend(world.Pattern(n, 2), p.To, 1)
			require.NoError(p, err)
			outs = append(outs, last)
			m, err := p.Receiver.Mprobe(p.Ctx, p.From, 1)
			require.NoError(p, err)
			for _, call := range calls {
				if !strings.HasPrefix(strings.TrimPrefix(call.name, "generic "), "I") {
					require.ErrorIs(p, call.do(ended, p.Receiver, p.From, 1), context.Canceled, call.name)
				}
			}
			buf := make([]byte, n)
			_, err = m.Recv(ended, buf)
			require.ErrorIs(p, err, context.Canceled)
			p.Pending(last, "nobody has received it")
			_, err = m.Recv(p.Ctx, buf)
			require.NoError(p, err)
			world.Equal(p, world.Pattern(n, 1), buf, "the message of the matched probe")
			p.Recv(world.Pattern(n, 2), 1)
			require.NoError(p, strand.WaitAll(p.Ctx, outs, nil))
			_, found, err := p.Sender.Iprobe(p.To, strand.AnyTag)
			require.NoError(p, err)
			require.False(p, found, "nothing was sent")
		}
	})
}

// A wait for requests whose context has ended before it ends what is complete, and nothing else.
func TestEndedContextBeforeAWait(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		ended, cancel := context.WithCancel(p.Ctx)
		cancel()
		for name, wait := range map[string]func(all []strand.Request) error{
			"Wait": func(all []strand.Request) error {
				_, err := all[0].Wait(ended)
				return err
			},
			"WaitAll": func(all []strand.Request) error { return strand.WaitAll(ended, all, nil) },
			"WaitAny": func(all []strand.Request) error {
				_, _, err := strand.WaitAny(ended, all)
				return err
			},
			"WaitSome": func(all []strand.Request) error {
				_, err := strand.WaitSome(ended, all, nil)
				return err
			},
		} {
			buf := make([]byte, 1)
			r := p.Irecv(buf, p.From, 1)
			all := []strand.Request{r}
			require.ErrorIs(p, wait(all), context.Canceled, name)
			require.Equal(p, []strand.Request{r}, all, "%s: it has not ended", name)
			require.NoError(p, p.Sender.Send(p.Ctx, []byte{7}, p.To, 1))
			p.Settle()
			require.NoError(p, wait(all), name)
			require.Equal(p, byte(7), buf[0], name)
			_, err := r.Wait(p.Ctx)
			require.ErrorIs(p, err, strand.ErrFinished, name)
		}
	})
}

// Who joins a world with a context that has ended joins none.
func TestEndedContextBeforeInit(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := strand.Run(ended, func(context.Context, *strand.World) error {
		t.Error("it has a world")
		return nil
	}, strand.WithJob(strandtest.NewJobs(1)[0]))
	require.ErrorIs(t, err, context.Canceled)
}

// If the context of a send that waits ends, the error says whether the send goes on. If it
// does, the buffer is not the caller's, and the message arrives.
func TestSendThatGoesOn(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		ended, cancel := context.WithCancel(p.Ctx)
		cancel()
		for name, send := range map[string]func(ctx context.Context, buf []byte) error{
			"Ssend": func(ctx context.Context, buf []byte) error { return p.Sender.Ssend(ctx, buf, p.To, 1) },
			"Sendrecv": func(ctx context.Context, buf []byte) error {
				_, err := p.Sender.Sendrecv(ctx, buf, p.To, 1, nil, p.To, 7)
				return err
			},
			"generic Send": func(ctx context.Context, buf []byte) error { return strand.Send(ctx, p.Sender, buf, p.To, 1) },
		} {
			n := 1
			if name != "Ssend" {
				n = 300_000 // it waits for its receive
			}
			err := send(ended, world.Pattern(n, 1))
			require.ErrorIs(p, err, context.Canceled, name)
			require.NotErrorIs(p, err, strand.ErrUnderway, name)
			ctx, cancel := context.WithCancel(p.Ctx)
			result := make(chan error, 1)
			go func() { result <- send(ctx, world.Pattern(n, 2)) }()
			_, err = p.Receiver.Probe(p.Ctx, p.From, 1) // it has been sent
			require.NoError(p, err)
			cancel()
			err = <-result
			require.ErrorIs(p, err, context.Canceled, name)
			require.ErrorIs(p, err, strand.ErrUnderway, name)
			require.ErrorContains(p, err, "context canceled: the send goes on by itself")
			p.Recv(world.Pattern(n, 2), 1)
		}
	})
}

// A receive and a probe from any source end once every other member has left: there
// is nobody who could send.
func TestAnySourceWhenAllOthersHaveLeft(t *testing.T) {
	w, ctx := world.Open(t, 3), world.Context(t)
	c := w[0].Comm()
	for _, other := range w[1:] {
		require.NoError(t, other.Comm().Send(ctx, []byte("left"), 0, 1))
	}
	_, err := c.Recv(ctx, make([]byte, 4), 1, 1)
	require.NoError(t, err)
	_, err = c.Probe(ctx, 2, 1)
	require.NoError(t, err)
	ended := make(chan error, 6)
	go func() { _, err := c.Recv(ctx, nil, strand.AnySource, 2); ended <- err }()
	go func() { _, err := c.Probe(ctx, strand.AnySource, 2); ended <- err }()
	go func() { _, err := c.Mprobe(ctx, strand.AnySource, 2); ended <- err }()
	post := func() strand.Request {
		r, err := c.Irecv(nil, strand.AnySource, 2)
		require.NoError(t, err)
		return r
	}
	r, among, one := post(), []strand.Request{{}, post()}, []strand.Request{post(), post()}
	go func() { ended <- strand.WaitAll(ctx, among, nil) }()
	go func() { _, _, err := strand.WaitAny(ctx, one); ended <- err }()
	require.NoError(t, w[1].Close())
	_, done, err := r.Test()
	require.NoError(t, err)
	require.False(t, done, "rank 2 may still send")
	require.NoError(t, w[2].Close())
	go func() { _, err := r.Wait(ctx); ended <- err }()
	for range 6 {
		err := <-ended
		require.ErrorIs(t, err, strand.ErrPeerClosed)
		require.ErrorContains(t, err, "every other rank of the communicator has left")
	}
	_, err = c.Recv(ctx, make([]byte, 4), strand.AnySource, 1)
	require.NoError(t, err, "what they had sent is there")
	_, err = c.Recv(ctx, nil, strand.AnySource, 2)
	require.ErrorIs(t, err, strand.ErrPeerClosed)
	_, found, err := c.Iprobe(strand.AnySource, 2)
	require.NoError(t, err, "nobody waits")
	require.False(t, found)

	// Itself it can still send to, and who says so goes on receiving from any source.
	require.NoError(t, c.AckFailed())
	r, err = c.Irecv(make([]byte, 4), strand.AnySource, 3)
	require.NoError(t, err)
	require.NoError(t, c.Send(ctx, []byte("self"), 0, 3))
	st, err := r.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, strand.Status{Source: 0, Tag: 3, Count: 4}, st)
}

// Who has sent to itself has somebody left to receive from.
func TestAnySourceOfWhoSendsToItself(t *testing.T) {
	w, ctx := world.Open(t, 2), world.Context(t)
	c := w[0].Comm()
	require.NoError(t, w[1].Comm().Send(ctx, nil, 0, 1))
	_, err := c.Recv(ctx, nil, 1, 1)
	require.NoError(t, err)
	require.NoError(t, c.Bsend(ctx, nil, 0, 1))
	r, err := c.Irecv(nil, strand.AnySource, 2)
	require.NoError(t, err)
	require.NoError(t, w[1].Close())
	_, err = c.Recv(ctx, nil, 1, 1) // rank 0 has heard it
	require.ErrorIs(t, err, strand.ErrPeerClosed)
	_, done, err := r.Test()
	require.NoError(t, err)
	require.False(t, done)
	require.NoError(t, c.Send(ctx, nil, 0, 2))
	st, err := r.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, 0, st.Source)
}

// A context that ends while a message arrives: either the receive gets it, or the next one
// does, before what was sent later; and a synchronous send completes when it is received.
func TestContextEndsInTheMiddleOfAMessage(t *testing.T) {
	world.OnEach(t, func(p *world.Pair) {
		for round, n := range []int{3 << 20, 200_000, 3 << 20, 60_000, 3 << 20} {
			first, err := p.Sender.Issend(world.Pattern(n, round), p.To, 1)
			require.NoError(p, err)
			second := p.Isend(world.Pattern(1000, round+1), 1)
			if round > 0 { // as it comes, or when it is there
				_, err = p.Receiver.Probe(p.Ctx, p.From, 1)
				require.NoError(p, err)
			}
			buf := make([]byte, n)
			var left [][]byte
			for tries := range 4 {
				ctx, cancel := context.WithCancel(p.Ctx)
				ended := make(chan error, 1)
				go func() {
					st, err := p.Receiver.Recv(ctx, buf, p.From, 1)
					if err == nil && st.Count != n {
						err = fmt.Errorf("%d bytes instead of %d", st.Count, n)
					}
					ended <- err
				}()
				for range tries * 20 {
					_, _, err = p.Receiver.Iprobe(p.From, 9) // some progress
					require.NoError(p, err)
				}
				cancel()
				if err = <-ended; err == nil {
					break
				}
				require.ErrorIs(p, err, context.Canceled)
				p.Pending(first, "nobody has received it")
				clear(buf) // it is ours
				left, buf = append(left, buf), make([]byte, n)
			}
			if err != nil {
				_, err = p.Receiver.Recv(p.Ctx, buf, p.From, 1)
				require.NoError(p, err)
			}
			world.Equal(p, world.Pattern(n, round), buf, "%d bytes", n)
			p.Recv(world.Pattern(1000, round+1), 1)
			p.Wait(first)
			p.Wait(second)
			for _, buf := range left {
				world.Equal(p, make([]byte, n), buf, "late bytes")
			}
		}
	})
}
