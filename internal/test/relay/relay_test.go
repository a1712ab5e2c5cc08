package relay_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/relay"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// through runs a program on two ranks whose connections are relayed. Parameters are names and values in turn.
func through(t *testing.T, plan relay.Plan, hold time.Duration, program func(context.Context, *strand.World) error, params ...string) {
	t.Helper()
	r, transports := relay.New(plan)
	defer r.Close()
	defer time.AfterFunc(hold, r.Release).Stop()
	opts := []strand.Option{strand.WithTransports(transports), strand.WithParam("btl", "tcp"), strand.WithParam("btl_tcp_if_include", "127.0.0.1"),
		strand.WithParam("btl_tcp_connect_retries", "100"), strand.WithParam("verbose", "2")}
	for i := 0; i < len(params); i += 2 {
		opts = append(opts, strand.WithParam(params[i], params[i+1]))
	}
	strandtest.Run(t, 2, program, opts...)
}

// exchange has both ranks send messages to each other, of the sizes given. Rank first begins; -1: both do at once.
func exchange(first int, sizes ...int) func(context.Context, *strand.World) error {
	return func(ctx context.Context, w *strand.World) error {
		c, peer := w.Comm(), 1-w.Comm().Rank()
		switch first {
		case c.Rank():
			if err := c.Send(ctx, nil, peer, 1); err != nil {
				return err
			}
		case peer:
			if _, err := c.Recv(ctx, nil, peer, 1); err != nil {
				return err
			}
		}
		for i, n := range sizes {
			in := make([]byte, n)
			if _, err := c.Sendrecv(ctx, world.Pattern(n, 100*c.Rank()+i), peer, 2, in, peer, 2); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			if !bytes.Equal(world.Pattern(n, 100*peer+i), in) {
				return fmt.Errorf("message %d of %d bytes is another one", i, n)
			}
		}
		return nil
	}
}

// inBothDirections tries a fault in what is said on a connection, and in what is answered.
func inBothDirections(t *testing.T, do relay.Action, at int, try func(*testing.T, relay.Faults)) {
	f := relay.Fault{Do: do, At: int64(at), Bit: uint8(at % 8)}
	t.Run(fmt.Sprintf("%v, forth", f), func(t *testing.T) { try(t, relay.Faults{Forth: f}) })
	t.Run(fmt.Sprintf("%v, back", f), func(t *testing.T) { try(t, relay.Faults{Back: f}) })
}

// beginning is more than what both sides say in a handshake, and the beginning of the first frames.
const beginning = 400

// Wherever the first connections of two ranks end, and however, others take their place, and nothing is lost.
func TestCuts(t *testing.T) {
	leak.Check(t)
	for _, lines := range []int{1, 2} { // one side connects first, or both at once
		for _, do := range []relay.Action{relay.Cut, relay.Reset, relay.Shut} {
			for at := 0; at < beginning; at += need.Times(67, 7) {
				inBothDirections(t, do, at, func(t *testing.T, f relay.Faults) {
					through(t, func(number int) (faults relay.Faults) {
						if number < lines {
							faults = f
						}
						return faults
					}, 0, exchange(1-lines, 8, 3000))
				})
			}
		}
	}
}

// The same within long messages, over several connections at once.
func TestCutsWithinLongMessages(t *testing.T) {
	leak.Check(t)
	for _, encrypt := range []string{"false", "true"} {
		for at := beginning; at < 3<<20; at += need.Times(1<<20, 40_009) {
			inBothDirections(t, relay.Cut, at, func(t *testing.T, f relay.Faults) {
				through(t, func(number int) (faults relay.Faults) {
					if number < 2 {
						faults = f
					}
					return faults
				}, 0, exchange(-1, 20_000, 4<<20), "btl_tcp_links", "2", "btl_tcp_encrypt", encrypt)
			})
		}
	}
}

// version is where a message of the handshake says which version it is of. Who says another one is believed.
const version = 4

// Whatever bit is changed of what an encrypted connection carries, from its handshake on, the program does not notice.
func TestFlippedBits(t *testing.T) {
	leak.Check(t)
	for at := 0; at < beginning; at += need.Times(31, 1) {
		if at == version || at == version+1 {
			continue
		}
		inBothDirections(t, relay.Flip, at, func(t *testing.T, f relay.Faults) {
			through(t, func(number int) (faults relay.Faults) {
				if number == 0 {
					faults = f
				}
				return faults
			}, 0, exchange(0, 8, 3000), "btl_tcp_encrypt", "true")
		})
	}
}

// Bytes that come one by one are the same bytes.
func TestSingleBytes(t *testing.T) {
	leak.Check(t)
	for _, encrypt := range []string{"false", "true"} {
		one := relay.Fault{Piece: 1}
		through(t, func(int) relay.Faults { return relay.Faults{Forth: one, Back: one} }, 0,
			exchange(-1, 8, 3000, 100_000), "btl_tcp_encrypt", encrypt)
	}
}

// A trial is what a seed says of faults, parameters and messages.
type trial struct {
	*rand.Rand
	faults []relay.Faults
	params []string
	hold   time.Duration
}

func newTrial(seed uint64) *trial {
	r := &trial{Rand: rand.New(rand.NewPCG(seed, 1))}
	for range 1 + r.IntN(6) {
		r.faults = append(r.faults, relay.Faults{Forth: r.fault(), Back: r.fault()})
	}
	r.hold = time.Duration(r.IntN(1500)) * time.Millisecond
	r.params = []string{"btl_tcp_handshake_timeout", "600ms", "btl_tcp_links", fmt.Sprint(1 + r.IntN(3))}
	for _, p := range [][2]string{{"btl_tcp_encrypt", "true"}, {"pml_eager_max", "0"}, {"btl_tcp_max_frag", "20K"}, {"pml_copy_limit", "0"}} {
		if r.IntN(3) == 0 {
			r.params = append(r.params, p[:]...)
		}
	}
	return r
}

// fault is any but those that nobody is to notice.
func (r *trial) fault() relay.Fault {
	f := relay.Fault{Do: []relay.Action{relay.None, relay.None, relay.Cut, relay.Reset, relay.Shut, relay.Hold}[r.IntN(6)]}
	f.At = []int64{r.Int64N(beginning), r.Int64N(20_000), r.Int64N(2 << 20)}[r.IntN(3)]
	if r.IntN(4) == 0 {
		f.Piece = 1 + r.IntN(2000)
	}
	return f
}

func (r *trial) plan(number int) (f relay.Faults) {
	if number < len(r.faults) {
		f = r.faults[number]
	}
	return f
}

// What any faults do to the first connections, ordinary and urgent ones: all messages arrive, each once and in its turn.
func TestAnyFaults(t *testing.T) {
	leak.Check(t)
	for seed := range need.Seeds(t, 15, 2000) {
		r := newTrial(seed)
		through(t, r.plan, r.hold, func(ctx context.Context, w *strand.World) error { return crowded(ctx, w, seed) }, r.params...)
	}
}

// crowded has many messages under way at once, some of them urgent.
func crowded(ctx context.Context, w *strand.World, seed uint64) error {
	c, me, peer := w.Comm(), w.Comm().Rank(), 1-w.Comm().Rank()
	urgent, err := c.DupWith(ctx, strand.Urgent)
	if err != nil {
		return err
	}
	sizes := [2][]int{}
	for rank := range sizes {
		r := rand.New(rand.NewPCG(seed, uint64(rank)))
		for range 12 {
			sizes[rank] = append(sizes[rank], []int{0, 8, 3000, 9000, 70_000, 300_000, 1_200_000}[r.IntN(7)])
		}
	}
	on := func(i int) *strand.Comm { return []*strand.Comm{c, c, c, urgent}[i%4] }
	var all []strand.Request
	ins := make([][]byte, len(sizes[peer]))
	for i, n := range sizes[peer] {
		ins[i] = make([]byte, n)
		r, err := on(i).Irecv(ins[i], peer, 1)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	for i, n := range sizes[me] {
		r, err := on(i).Isend(world.Pattern(n, 100*me+i), peer, 1)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	if err := strand.WaitAll(ctx, all, nil); err != nil {
		return err
	}
	for i, n := range sizes[peer] {
		if !bytes.Equal(world.Pattern(n, 100*peer+i), ins[i]) {
			return fmt.Errorf("message %d of %d bytes is another one", i, n)
		}
	}
	return c.Barrier(ctx)
}

// Who has nothing but connections that end too soon is told so.
func TestNothingButCuts(t *testing.T) {
	leak.Check(t)
	r, transports := relay.New(func(int) relay.Faults { return relay.Faults{Forth: relay.Fault{Do: relay.Cut, At: 150}} })
	defer r.Close()
	errs := strandtest.Try(t, 2, exchange(0, 8), strand.WithTransports(transports), strand.WithParam("btl", "tcp"),
		strand.WithParam("btl_tcp_if_include", "127.0.0.1"))
	var failed *strand.PeerFailedError
	require.ErrorAs(t, errs[0], &failed)
	require.Equal(t, 1, failed.Rank)
	require.ErrorContains(t, errs[0], "tcp: rank 0 → rank 1 on localhost (127.0.0.1 (lo) → 127.0.0.1:")
	require.ErrorContains(t, errs[0], "handshake: ")
	require.ErrorContains(t, errs[0], "instead of accepting it (3 attempts in")
}
