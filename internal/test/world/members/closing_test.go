package members_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
)

// Receives and probes without a message end when the world is closed, whoever
// waits for them.
func TestCloseEndsReceives(t *testing.T) {
	w, ctx := world.Open(t, 2), world.Context(t)
	c := w[0].Comm()
	ended := make(chan error, 4)
	go func() { _, err := c.Recv(ctx, nil, 1, 1); ended <- err }()
	go func() { _, err := c.Recv(ctx, nil, strand.AnySource, 1); ended <- err }()
	go func() { _, err := c.Probe(ctx, 1, 1); ended <- err }()
	go func() { _, err := c.Mprobe(ctx, strand.AnySource, strand.AnyTag); ended <- err }()
	r, err := c.Irecv(nil, 0, 1)
	require.NoError(t, err)
	world.Close(t, w...)
	for range 4 {
		assert.ErrorIs(t, <-ended, strand.ErrClosed)
	}
	_, err = r.Wait(ctx)
	assert.ErrorIs(t, err, strand.ErrClosed)
}

// Nobody waits for the receive of a message that a matched probe has taken, once that world is closed too.
func TestCloseRefusesWhatProbesHaveTaken(t *testing.T) {
	w, ctx := world.Open(t, 2, strand.WithParam("pml_close_timeout", "1h")), world.Context(t)
	var sends [2]strand.Request
	var taken [2]*strand.Message
	var err error
	for i, w := range w {
		sends[i], err = w.Comm().Issend(make([]byte, 1<<20), 1-i, 1)
		require.NoError(t, err)
	}
	for i, w := range w {
		taken[i], err = w.Comm().Mprobe(ctx, 1-i, 1)
		require.NoError(t, err)
	}
	world.Close(t, w...)
	for i := range w {
		_, err = sends[i].Wait(ctx)
		require.ErrorIs(t, err, strand.ErrPeerClosed)
		_, err = taken[i].Recv(ctx, make([]byte, 1<<20))
		require.ErrorIs(t, err, strand.ErrClosed)
	}
}

// What was sent is delivered though the sender closes its world at once: short,
// buffered, and long ones whose receive comes only after.
func TestCloseDrainsSends(t *testing.T) {
	leak.Check(t)
	for name, opts := range world.Settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ctx := world.OpenMore(t, 2, opts...), world.Context(t)
			s, r := w[0].Comm(), w[1].Comm()
			for i, n := range world.Sizes {
				require.NoError(t, s.Bsend(ctx, world.Pattern(n, i), 1, i))
				_, err := s.Isend(world.Pattern(n, i+1), 1, i)
				require.NoError(t, err)
			}
			closed := make(chan error, 1)
			go func() { closed <- w[0].Close() }()
			for i, n := range world.Sizes {
				for j := range 2 {
					buf := make([]byte, n)
					_, err := r.Recv(ctx, buf, 0, i)
					require.NoError(t, err)
					world.Equal(t, world.Pattern(n, i+j), buf, "%d bytes", n)
				}
			}
			// Close waits until the other side has heard the goodbye, for which that side need
			// not call anything.
			require.NoError(t, <-closed)
		})
	}
}

// A peer that has closed its world is told apart from one that has failed.
func TestPeerThatHasClosed(t *testing.T) {
	w, ctx := world.Open(t, 3), world.Context(t)
	a, b := w[0].Comm(), w[1].Comm()
	require.NoError(t, a.Send(ctx, []byte("last words"), 1, 1))
	for i := range 2 { // rank 2 knows both
		require.NoError(t, w[2].Comm().Send(ctx, nil, i, 9))
		_, err := w[i].Comm().Recv(ctx, nil, 2, 9)
		require.NoError(t, err)
	}
	ended := make(chan error, 3)
	go func() { _, err := b.Recv(ctx, nil, 0, 2); ended <- err }()
	go func() { _, err := b.Probe(ctx, 0, 2); ended <- err }()
	go func() { ended <- b.Ssend(ctx, nil, 0, 2) }()
	anybody, err := b.Irecv(nil, strand.AnySource, 3)
	require.NoError(t, err)
	require.NoError(t, w[0].Close())
	for range 3 {
		err := <-ended
		require.ErrorIs(t, err, strand.ErrPeerClosed)
		assert.NotErrorIs(t, err, strand.ErrPeerFailed)
		assert.ErrorContains(t, err, "rank 0 on localhost has closed its world")
	}
	for _, call := range calls {
		if call.name != "Recv" && call.name != "Sendrecv" {
			assert.ErrorIs(t, call.do(ctx, b, 0, 5), strand.ErrPeerClosed, call.name)
		}
	}
	buf := make([]byte, 10)
	_, err = b.Recv(ctx, buf, 0, 1)
	require.NoError(t, err, "what it had sent is there")
	assert.Equal(t, "last words", string(buf))
	_, err = b.Recv(ctx, buf, 0, 1)
	require.ErrorIs(t, err, strand.ErrPeerClosed)

	// A receive from any source goes on with the others.
	require.NoError(t, w[2].Comm().Send(ctx, nil, 1, 3))
	st, err := anybody.Wait(ctx)
	require.NoError(t, err)
	assert.Equal(t, 2, st.Source)
}

// All ranks may close at once, whether they know each other or not.
func TestAllCloseAtOnce(t *testing.T) {
	for round := range 10 {
		w, ctx := world.Open(t, 4), world.Context(t)
		for i := range round {
			from, to := i%4, (i+1+i/4)%4
			require.NoError(t, w[from].Comm().Send(ctx, nil, to, 1))
		}
		world.Close(t, w...)
	}
}

// Messages are delivered even if sender and receiver meet for the first time
// while the sender closes.
func TestCloseOfWhoHasNotConnectedYet(t *testing.T) {
	for range 20 {
		w, ctx := world.Open(t, 2), world.Context(t)
		require.NoError(t, w[1].Comm().Bsend(ctx, []byte("hello"), 0, 1))
		require.NoError(t, w[0].Comm().Bsend(ctx, nil, 1, 1)) // nobody will receive it
		closed := make(chan error, 1)
		go func() { closed <- w[1].Close() }()
		buf := make([]byte, 5)
		_, err := w[0].Comm().Recv(ctx, buf, 1, 1)
		require.NoError(t, err)
		require.NoError(t, <-closed)
		require.NoError(t, w[0].Close())
	}
}

// A message that nobody receives holds Close up for pml_close_timeout; the error
// says who has not taken it.
func closeTimeout(t *testing.T) {
	w, ctx := world.OpenMore(t, 2, strand.WithParam("pml_close_timeout", "50ms")), world.Context(t)
	require.NoError(t, w[0].Comm().Bsend(ctx, make([]byte, 1<<20), 1, 1))
	_, err := w[1].Comm().Probe(ctx, 0, 1)
	require.NoError(t, err)
	assert.EqualError(t, w[0].Close(), "rank 0: closing: rank 1 on localhost has not taken everything that was sent to it "+
		"within pml_close_timeout (50ms); 1 sends are not complete")
	// To rank 1 that is a failure: there was no goodbye.
	_, err = w[1].Comm().Recv(ctx, nil, 0, 2)
	var failed *strand.PeerFailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 0, failed.Rank)
}

// Operations that are under way in other goroutines when the world is closed end,
// each with an error or a result, and none hangs.
func TestCloseWhileBusy(t *testing.T) {
	for _, opts := range world.Settings {
		w := world.Open(t, 2, opts...)
		ctx := world.Context(t)
		require.NoError(t, w[0].Comm().Bsend(ctx, nil, 1, 9)) // they know each other
		ended := make(chan error, 12)
		_, err := w[1].Comm().Recv(ctx, nil, 0, 9)
		require.NoError(t, err)
		for i := range 3 {
			for _, c := range []*strand.Comm{w[0].Comm(), w[1].Comm()} {
				peer := 1 - c.Rank()
				go func() { ended <- loop(func() error { return c.Send(ctx, make([]byte, 1000*i*i), peer, i) }) }()
				go func() {
					ended <- loop(func() error { _, err := c.Recv(ctx, make([]byte, 5000), peer, i); return err })
				}()
			}
		}
		errs := make(chan error, 2)
		for _, w := range w {
			go func() { errs <- w.Close() }()
		}
		for range 12 {
			err := <-ended
			require.True(t, isEndOfWorld(err), "%v", err)
		}
		for range 2 {
			require.NoError(t, <-errs)
		}
	}
}

func loop(f func() error) error {
	for {
		if err := f(); err != nil {
			return err
		}
	}
}

func isEndOfWorld(err error) bool {
	return errors.Is(err, strand.ErrClosed) || errors.Is(err, strand.ErrPeerClosed)
}

// A rank that closes its world in the middle of a message that it receives gets all of the
// message. The sender has its buffer back only when the transport has done with it.
func TestCloseWhileReceiving(t *testing.T) {
	for round := range 4 {
		w, ctx := world.Open(t, 2), world.Context(t)
		s, r := w[0].Comm(), w[1].Comm()
		data := world.Pattern(8<<20, round)
		out, err := s.Isend(data, 1, 1)
		require.NoError(t, err)
		_, err = r.Probe(ctx, 0, 1)
		require.NoError(t, err)
		buf := make([]byte, len(data))
		in, err := r.Irecv(buf, 0, 1) // it matches at once
		require.NoError(t, err)
		closed := make(chan error, 1)
		go func() { closed <- w[1].Close() }()
		_, err = out.Wait(ctx)
		require.NoError(t, err, "it has matched")
		clear(data) // it is ours again
		require.NoError(t, <-closed)
		_, err = in.Wait(ctx)
		require.NoError(t, err)
		world.Equal(t, world.Pattern(len(data), round), buf, "round %d", round)
	}
}

// A message may be half sent when its receiver leaves without having received it. The send
// fails, and what the program then writes to its buffer reaches nobody.
func TestPeerLeavesInTheMiddleOfAFrame(t *testing.T) {
	w, ctx := world.Open(t, 2, strand.WithParam("btl_tcp_sndbuf", "64K"), strand.WithParam("btl_tcp_rcvbuf", "64K"),
		strand.WithParam("pml_copy_limit", "0"), strand.WithParam("btl_tcp_eager_limit", "1M"), strand.WithParam("pml_credit_first", "16M")), world.Context(t)
	s := w[0].Comm()
	require.NoError(t, s.Send(ctx, nil, 1, 2))
	_, err := w[1].Comm().Recv(ctx, nil, 0, 2)
	require.NoError(t, err)
	var outs []strand.Request
	for range 10 {
		r, err := s.Isend(make([]byte, 1<<20), 1, 1)
		require.NoError(t, err)
		outs = append(outs, r)
	}
	require.NoError(t, w[1].Close(), "it need not wait for who writes to it")
	for _, r := range outs {
		if _, err := r.Wait(ctx); err != nil {
			require.ErrorIs(t, err, strand.ErrPeerClosed)
		}
	}
}
