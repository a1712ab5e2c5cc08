package strand_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/strandtest"
)

// watchdog is when a test counts as hung. No test waits for it.
var watchdog = time.Duration(need.Times(2, 120)) * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return ctx
}

// openWorlds opens the worlds of a job of n ranks in this process. Those that the
// test has not closed are closed at its end; that such a close fails, or that
// anything is left behind, fails the test.
func openWorlds(t testing.TB, n int, opts ...strand.Option) []*strand.World {
	t.Helper()
	leak.Check(t)
	return openMore(t, n, opts...)
}

// openMore is openWorlds for a test that has others open: what they leave behind is looked for
// once, by the first.
func openMore(t testing.TB, n int, opts ...strand.Option) []*strand.World {
	t.Helper()
	jobs := strandtest.NewJobs(n)
	worlds, errs := make([]*strand.World, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			worlds[i], errs[i] = strand.Init(testContext(t), append([]strand.Option{strand.WithJob(jobs[i])}, opts...)...)
		})
	}
	wg.Wait()
	for i := range n {
		require.NoError(t, errs[i])
	}
	t.Cleanup(func() {
		closeWorlds(t, slices.DeleteFunc(worlds, func(w *strand.World) bool {
			_, _, err := w.Comm().Iprobe(strand.AnySource, strand.AnyTag)
			return errors.Is(err, strand.ErrClosed)
		})...)
	})
	return worlds
}

// closeWorlds closes worlds at the same time, as processes would.
func closeWorlds(t testing.TB, worlds ...*strand.World) {
	t.Helper()
	errs := make([]error, len(worlds))
	var wg sync.WaitGroup
	for i, w := range worlds {
		wg.Go(func() { errs[i] = w.Close() })
	}
	wg.Wait()
	for i, err := range errs {
		require.NoError(t, err, "closing rank %d", worlds[i].Rank())
	}
}

// pair is a sender and a receiver that one goroutine, the test's, directs.
type pair struct {
	testing.TB
	ctx      context.Context
	s, r     *strand.Comm // the sender's and the receiver's communicator
	to, from int          // the receiver's and the sender's rank
}

// settings are what behaviour must not depend on.
var settings = map[string][]strand.Option{
	"default":              nil,
	"no credit at first":   {strand.WithParam("pml_credit_first", "0")},
	"hardly any credit":    {strand.WithParam("pml_credit_first", "500"), strand.WithParam("pml_unexpected_max", "1K")},
	"no credit at all":     {strand.WithParam("pml_credit_first", "0"), strand.WithParam("pml_unexpected_max", "0")},
	"no copies":            {strand.WithParam("pml_copy_limit", "0")},
	"one lane":             {strand.WithParam("pml_lanes", "1")},
	"small frames":         {strand.WithParam("btl_tcp_eager_limit", "100"), strand.WithParam("btl_tcp_max_frag", "1K")},
	"relaxed, no spinning": {strand.WithParam("pml_ordering", "relaxed"), strand.WithParam("progress_spin", "0")},
}

// onEach runs a script over TCP and over self, with every setting.
func onEach(t *testing.T, script func(*pair)) {
	for name, opts := range settings {
		t.Run("tcp, "+name, func(t *testing.T) {
			w := openWorlds(t, 2, opts...)
			script(&pair{TB: t, ctx: testContext(t), s: w[0].Comm(), r: w[1].Comm(), to: 1, from: 0})
		})
		t.Run("self, "+name, func(t *testing.T) {
			w := openWorlds(t, 1, opts...)
			script(&pair{TB: t, ctx: testContext(t), s: w[0].Comm(), r: w[0].Comm(), to: 0, from: 0})
		})
	}
}

// pattern makes n bytes that tell one message, and one place in it, from
// another.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	from := 256 * (seed*31 + 1) // each 256 bytes are those before, and one more
	for done := 0; done < n; {
		done += copy(b[done:], tape[(from+done)&(len(tape)-1):])
	}
	return b
}

// tape is what all patterns are cut from: copied, it costs less than what it is for.
var tape = func() (b [1 << 16]byte) {
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}()

// equal compares long contents without printing them.
func equal(t testing.TB, want, got []byte, format string, args ...any) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	t.Fatalf("%s: %d bytes instead of %d, the first %d agree", fmt.Sprintf(format, args...), len(got), len(want), at)
}

// sizes are around every limit there is, by default.
var sizes = []int{0, 1, 127, 128, 129, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 262143, 262144, 262145, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 5}

// isend, irecv, wait and await are for scripts, in which nothing may fail.
func (p *pair) isend(b []byte, tag int) strand.Request {
	p.Helper()
	r, err := p.s.Isend(b, p.to, tag)
	require.NoError(p, err)
	return r
}

func (p *pair) irecv(b []byte, src, tag int) strand.Request {
	p.Helper()
	r, err := p.r.Irecv(b, src, tag)
	require.NoError(p, err)
	return r
}

func (p *pair) wait(r strand.Request) strand.Status {
	p.Helper()
	st, err := r.Wait(p.ctx)
	require.NoError(p, err)
	return st
}

// recv receives a message of the sender's and checks what it is.
func (p *pair) recv(want []byte, tag int) {
	p.Helper()
	buf := make([]byte, len(want)+1)
	st, err := p.r.Recv(p.ctx, buf, p.from, tag)
	require.NoError(p, err)
	require.Equal(p, strand.Status{Source: p.from, Tag: tag, Count: len(want)}, st)
	equal(p, want, buf[:st.Count], "tag %d", tag)
}

// settle returns when everything that the sender has sent so far has arrived at
// the receiver, and all that this made the receiver say at the sender.
func (p *pair) settle() {
	p.Helper()
	const tag = strand.MaxTag - 1
	out := p.isend([]byte{1}, tag)
	p.recv([]byte{1}, tag)
	p.wait(out)
	back, err := p.r.Isend([]byte{2}, p.from, tag)
	require.NoError(p, err)
	_, err = p.s.Recv(p.ctx, make([]byte, 1), p.to, tag)
	require.NoError(p, err)
	p.wait(back)
}

// takeBack cancels a receive and ends its request.
func (p *pair) takeBack(r strand.Request) {
	p.Helper()
	require.True(p, r.Cancel())
	require.True(p, p.wait(r).Cancelled)
}

// pending asserts that a request is not complete.
func (p *pair) pending(r strand.Request, why string) {
	p.Helper()
	_, done, err := r.Test()
	require.NoError(p, err)
	require.False(p, done, why)
}
