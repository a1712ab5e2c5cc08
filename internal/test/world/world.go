// Package world opens the worlds of a job within a test of the public interface. The tests
// are in its folders: messages, requests, and members, who come, leave and fail.
package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/strandtest"
)

// Watchdog is when a test counts as hung. No test waits for it.
var Watchdog = time.Duration(need.Times(2, 120)) * time.Minute

// Context is that of a test: it ends with it, or with the watchdog.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Watchdog)
	t.Cleanup(cancel)
	return ctx
}

// FromEnvironment takes the transports from the environment, STRAND_BTL, which a job within a
// process does not look at. So the same tests hold any transport: make test-tcp.
func FromEnvironment() strand.Option {
	const variable = "STRAND_BTL"
	if list := os.Getenv(variable); list != "" {
		return strand.WithSettings(param.Setting{Name: "btl", Text: list, Source: param.Source{Kind: param.Environment, Where: variable}})
	}
	return strand.WithSettings()
}

// Open opens the worlds of a job of n ranks in this process. Those that the
// test has not closed are closed at its end; that such a close fails, or that
// anything is left behind, fails the test.
func Open(t testing.TB, n int, opts ...strand.Option) []*strand.World {
	t.Helper()
	leak.Check(t)
	return OpenMore(t, n, opts...)
}

// OpenMore is Open for a test that has others open: what they leave behind is looked for
// once, by the first.
func OpenMore(t testing.TB, n int, opts ...strand.Option) []*strand.World {
	t.Helper()
	jobs := strandtest.NewJobs(n)
	worlds, errs := make([]*strand.World, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			worlds[i], errs[i] = strand.Init(Context(t), append([]strand.Option{strand.WithJob(jobs[i]), FromEnvironment()}, opts...)...)
		})
	}
	wg.Wait()
	for i := range n {
		require.NoError(t, errs[i])
	}
	t.Cleanup(func() {
		Close(t, slices.DeleteFunc(worlds, func(w *strand.World) bool {
			_, _, err := w.Comm().Iprobe(strand.AnySource, strand.AnyTag)
			return errors.Is(err, strand.ErrClosed)
		})...)
	})
	return worlds
}

// Close closes worlds at the same time, as processes would.
func Close(t testing.TB, worlds ...*strand.World) {
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

// A Pair is a sender and a receiver that one goroutine, the test's, directs.
type Pair struct {
	testing.TB
	Ctx              context.Context
	Sender, Receiver *strand.Comm // the sender's and the receiver's communicator
	To, From         int          // the receiver's and the sender's rank
}

// Settings are what behaviour must not depend on.
var Settings = map[string][]strand.Option{
	"default":            nil,
	"no credit at first": {strand.WithParam("pml_credit_first", "0")},
	"hardly any credit":  {strand.WithParam("pml_credit_first", "500"), strand.WithParam("pml_unexpected_max", "1K")},
	"no credit at all":   {strand.WithParam("pml_credit_first", "0"), strand.WithParam("pml_unexpected_max", "0")},
	"no copies":          {strand.WithParam("pml_copy_limit", "0")},
	"one lane":           {strand.WithParam("pml_lanes", "1")},
	"small frames": {strand.WithParam("btl_tcp_eager_limit", "100"), strand.WithParam("btl_tcp_max_frag", "1K"),
		strand.WithParam("btl_sm_eager_limit", "100"), strand.WithParam("btl_sm_max_send_size", "1K")},
	"relaxed, no spinning": {strand.WithParam("pml_ordering", "relaxed"), strand.WithParam("progress_spin", "0")},
}

// overMemory are those of the settings that shared memory is tried with too, and from day to day self.
var overMemory = []string{"default", "no credit at all", "small frames"}

// OnEach runs a script over TCP and over self with every setting (over self with some from day to day), and over
// shared memory with some. Several run at a time: what they leave behind is looked for at the end of all.
func OnEach(t *testing.T, script func(*Pair)) {
	t.Helper()
	onEach(t, (*testing.T).Parallel, script)
}

// InTurn is OnEach for scripts to which it matters what else runs.
func InTurn(t *testing.T, script func(*Pair)) {
	t.Helper()
	onEach(t, func(*testing.T) {}, script)
}

func onEach(t *testing.T, begin func(*testing.T), script func(*Pair)) {
	t.Helper()
	leak.Check(t)
	for name, opts := range Settings {
		t.Run("tcp, "+name, func(t *testing.T) {
			begin(t)
			w := OpenMore(t, 2, over("tcp,self", opts)...)
			script(&Pair{TB: t, Ctx: Context(t), Sender: w[0].Comm(), Receiver: w[1].Comm(), To: 1, From: 0})
		})
		if runtime.GOOS == "linux" && slices.Contains(overMemory, name) {
			t.Run("sm, "+name, func(t *testing.T) {
				begin(t)
				w := OpenMore(t, 2, over("sm,self", opts)...)
				script(&Pair{TB: t, Ctx: Context(t), Sender: w[0].Comm(), Receiver: w[1].Comm(), To: 1, From: 0})
			})
		}
		if !need.Thorough() && !slices.Contains(overMemory, name) {
			continue
		}
		t.Run("self, "+name, func(t *testing.T) {
			begin(t)
			w := OpenMore(t, 1, opts...)
			script(&Pair{TB: t, Ctx: Context(t), Sender: w[0].Comm(), Receiver: w[0].Comm(), To: 0, From: 0})
		})
	}
}

// over is the options with a list of transports.
func over(list string, opts []strand.Option) []strand.Option {
	return append(slices.Clone(opts), strand.WithParam("btl", list))
}

// OnTransports runs a script over each transport that the library brings.
func OnTransports(t *testing.T, script func(*Pair), opts ...strand.Option) {
	type transport struct {
		name, btl string
		ranks     int
	}
	all := []transport{{"self", "self", 1}, {"tcp", "tcp,self", 2}, {"sctp", "sctp,self", 2}}
	if runtime.GOOS == "linux" {
		all = append(all, transport{"sm", "sm,self", 2})
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			w := Open(t, c.ranks, over(c.btl, opts)...)
			to := c.ranks - 1
			script(&Pair{TB: t, Ctx: Context(t), Sender: w[0].Comm(), Receiver: w[to].Comm(), To: to, From: 0})
		})
	}
}

// Pattern makes n bytes that tell one message, and one place in it, from
// another.
func Pattern(n, seed int) []byte {
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

// Equal compares long contents without printing them.
func Equal(t testing.TB, want, got []byte, format string, args ...any) {
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

// Sizes are around every limit there is, by default.
var Sizes = []int{0, 1, 127, 128, 129, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 65537, 262143, 262144, 262145, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 5}

// Isend is for scripts, in which nothing may fail.
func (p *Pair) Isend(b []byte, tag int) strand.Request {
	p.Helper()
	r, err := p.Sender.Isend(b, p.To, tag)
	require.NoError(p, err)
	return r
}

// Irecv is Isend for a receive.
func (p *Pair) Irecv(b []byte, src, tag int) strand.Request {
	p.Helper()
	r, err := p.Receiver.Irecv(b, src, tag)
	require.NoError(p, err)
	return r
}

// Wait waits for a request that does not fail.
func (p *Pair) Wait(r strand.Request) strand.Status {
	p.Helper()
	st, err := r.Wait(p.Ctx)
	require.NoError(p, err)
	return st
}

// Recv receives a message of the sender's and checks what it is.
func (p *Pair) Recv(want []byte, tag int) {
	p.Helper()
	buf := make([]byte, len(want)+1)
	st, err := p.Receiver.Recv(p.Ctx, buf, p.From, tag)
	require.NoError(p, err)
	require.Equal(p, strand.Status{Source: p.From, Tag: tag, Count: len(want)}, st)
	Equal(p, want, buf[:st.Count], "tag %d", tag)
}

// Settle returns when everything that the sender has sent so far has arrived at
// the receiver, and all that this made the receiver say at the sender.
func (p *Pair) Settle() {
	p.Helper()
	const tag = strand.MaxTag - 1
	out := p.Isend([]byte{1}, tag)
	p.Recv([]byte{1}, tag)
	p.Wait(out)
	back, err := p.Receiver.Isend([]byte{2}, p.From, tag)
	require.NoError(p, err)
	_, err = p.Sender.Recv(p.Ctx, make([]byte, 1), p.To, tag)
	require.NoError(p, err)
	p.Wait(back)
}

// TakeBack cancels a receive and ends its request.
func (p *Pair) TakeBack(r strand.Request) {
	p.Helper()
	require.True(p, r.Cancel())
	require.True(p, p.Wait(r).Cancelled)
}

// Pending asserts that a request is not complete.
func (p *Pair) Pending(r strand.Request, why string) {
	p.Helper()
	_, done, err := r.Test()
	require.NoError(p, err)
	require.False(p, done, why)
}
