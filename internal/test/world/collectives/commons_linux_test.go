package collectives_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/calls"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/strandtest"
)

// warm makes the calls after which ranks have memory in common, if they ever have.
func warm(ctx context.Context, c *strand.Comm) error {
	return barriers(ctx, c, making+1)
}

func barriers(ctx context.Context, c *strand.Comm, n int) error {
	for range n {
		if err := c.Barrier(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mappings counts the memories that this process has mapped for collective calls.
func mappings(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(b), "/memfd:strand-commons")
}

// warmed are worlds whose ranks have memory in common.
func warmed(t *testing.T, n int, opts ...strand.Option) []*strand.World {
	t.Helper()
	before := mappings(t)
	w := world.Open(t, n, append([]strand.Option{strand.WithParam("btl", "sm,self")}, opts...)...)
	together(t, w, warm)
	require.Equal(t, before+n, mappings(t))
	return w
}

// Ranks of a host have memory in common for the calls of a communicator, unless the parameters say otherwise, and no longer than the
// communicator is there. A rank says so.
func TestWhoHasMemoryInCommon(t *testing.T) {
	for name, c := range map[string]struct {
		opts []strand.Option
		has  bool
	}{
		"sm":          {[]strand.Option{strand.WithParam("btl", "sm,self")}, true},
		"all but udp": {[]strand.Option{strand.WithParam("btl", "^udp")}, true},
		"no sm":       {[]strand.Option{strand.WithParam("btl", "tcp,self")}, false},
		"none":        {[]strand.Option{strand.WithParam("coll_shared_size", "0")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var said []string
			log := strand.WithLog(func(_ btl.LogLevel, line string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(line, "memory in common") {
					said = append(said, line)
				}
			})
			const n = 3
			w := world.Open(t, n, append(c.opts, log, strand.WithParam("verbose", "1"))...)
			has := 0
			if c.has {
				has = n
			}
			base := mappings(t)
			together(t, w, func(ctx context.Context, c *strand.Comm) error { return barriers(ctx, c, making-1) })
			require.Equal(t, base, mappings(t)) // many communicators are used for few calls
			together(t, w, func(ctx context.Context, c *strand.Comm) error { return barriers(ctx, c, 1) })
			require.Equal(t, base+has, mappings(t))
			dups := make([]*strand.Comm, n)
			together(t, w, func(ctx context.Context, c *strand.Comm) (err error) {
				if dups[c.Rank()], err = c.Dup(ctx); err != nil {
					return err
				}
				return warm(ctx, dups[c.Rank()])
			})
			require.Equal(t, base+2*has, mappings(t))
			for _, d := range dups {
				require.NoError(t, d.Free())
				require.NoError(t, d.Free())
			}
			require.Equal(t, base+has, mappings(t))
			world.Close(t, w...)
			require.Equal(t, base, mappings(t))
			mu.Lock()
			defer mu.Unlock()
			assert.Len(t, said, 2*has, "%v", said)
		})
	}
}

// In which call the memory is made is a parameter: the first, or a later one.
func TestFromWhichCallMemoryIsInCommon(t *testing.T) {
	for _, from := range []int{1, 2, 40} {
		const n = 3
		w := world.Open(t, n, strand.WithParam("btl", "sm,self"), strand.WithParam("coll_shared_from", strconv.Itoa(from)))
		base := mappings(t)
		together(t, w, func(ctx context.Context, c *strand.Comm) error { return barriers(ctx, c, from-1) })
		require.Equal(t, base, mappings(t))
		together(t, w, func(ctx context.Context, c *strand.Comm) error { return barriers(ctx, c, 1) })
		require.Equal(t, base+n, mappings(t))
		world.Close(t, w...)
	}
}

// A rank has memory for some communicators, not for all that a program makes: the others' calls go by messages until some are freed. A line says so.
func TestMemoryIsBounded(t *testing.T) {
	var mu sync.Mutex
	refused := 0
	log := strand.WithLog(func(_ btl.LogLevel, line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(line, "no memory in common") {
			assert.Contains(t, line, "free those that are not needed any more, or lower coll_shared_size")
			refused++
		}
	})
	const n = 2
	w := warmed(t, n, strand.WithParam("coll_shared_size", "1M"), log, strand.WithParam("verbose", "1"))
	base := mappings(t)
	another := func() []*strand.Comm {
		dups := make([]*strand.Comm, n)
		together(t, w, func(ctx context.Context, c *strand.Comm) (err error) {
			if dups[c.Rank()], err = c.Dup(ctx); err != nil {
				return err
			}
			return warm(ctx, dups[c.Rank()])
		})
		return dups
	}
	first := another() // 4 MB of each rank, as the world's own
	another()
	require.Equal(t, base+2*n, mappings(t))
	another() // the fourth
	require.Equal(t, base+2*n, mappings(t))
	for _, c := range first {
		require.NoError(t, c.Free())
	}
	another()
	require.Equal(t, base+2*n, mappings(t))
	world.Close(t, w...) // lines leave on a goroutine of their own
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, n, refused)
}

// Where the parameters of ranks differ none has memory, and all calls are made.
func TestWhoseSizesDiffer(t *testing.T) {
	for name, sizes := range map[string][3]string{
		"rank 0 has none": {"0", "64K", "64K"}, "another rank has none": {"64K", "64K", "0"}, "all want some": {"64K", "4K", "64K"},
	} {
		t.Run(name, func(t *testing.T) {
			ranks := make([]*strand.World, len(sizes))
			var all sync.WaitGroup
			for rank, job := range strandtest.NewJobs(len(sizes)) {
				all.Go(func() {
					var err error
					ranks[rank], err = strand.Init(world.Context(t), strand.WithJob(job), strand.WithParam("btl", "sm,self"), strand.WithParam("coll_shared_size", sizes[rank]))
					assert.NoError(t, err)
				})
			}
			all.Wait()
			before := mappings(t)
			together(t, ranks, warm)
			require.Equal(t, before, mappings(t))
			world.Close(t, ranks...)
		})
	}
}

// Calls that go by memory give what they give by messages, in any order of calls, lengths and roots, beside calls that go on by themselves.
func TestCallsByMemory(t *testing.T) {
	for seed := range uint64(need.Daily(2, 6)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := warmed(t, 2+r.IntN(6), strand.WithParam("coll_shared_size", []string{"4K", "64K", "1M"}[r.IntN(3)]))
			var all []calls.Call
			for range 150 {
				all = append(all, calls.Draw(r, 200_000/len(w)))
			}
			together(t, w, func(ctx context.Context, c *strand.Comm) error {
				for _, call := range all {
					if !call.Alone {
						if err := call.Make(ctx, c); err != nil {
							return fmt.Errorf("%s: %w", call, err)
						}
						continue
					}
					req, check, err := call.Begin(c)
					if err == nil {
						if err = c.Barrier(ctx); err == nil {
							_, err = req.Wait(ctx)
						}
					}
					if err == nil {
						err = check()
					}
					if err != nil {
						return fmt.Errorf("%s: %w", call, err)
					}
				}
				return nil
			})
		})
	}
}

// Long calls by memory go in pieces, and the root of a bcast may be some calls ahead.
func TestPiecesByMemory(t *testing.T) {
	w := warmed(t, 4, strand.WithParam("coll_shared_size", "4K"), strand.WithParam("coll_bcast", "shared"), strand.WithParam("coll_alltoall", "shared"))
	together(t, w, func(ctx context.Context, c *strand.Comm) error {
		for i := range 40 {
			root, n := i%3, []int{0, 1, 5000, 4 << 10, 100_000}[i%5]
			want := bytes.Repeat([]byte{byte(i)}, n)
			got := make([]byte, n)
			if c.Rank() == root {
				copy(got, want)
			}
			if err := c.Bcast(ctx, got, root); err != nil {
				return err
			}
			if !bytes.Equal(want, got) {
				return fmt.Errorf("bcast %d: rank %d has something else", i, c.Rank())
			}
		}
		in := bytes.Repeat([]byte{byte(c.Rank())}, 4*10_001)
		if err := c.Alltoall(ctx, in, in); err != nil {
			return err
		}
		for r := range 4 {
			if !bytes.Equal(in[r*10_001:(r+1)*10_001], bytes.Repeat([]byte{byte(r)}, 10_001)) {
				return fmt.Errorf("alltoall: rank %d has something else of %d", c.Rank(), r)
			}
		}
		return nil
	})
}

// sleeping has some ranks make a call that needs the others, and returns once all of them wait, not only looking.
func sleeping(ctx context.Context, who []*strand.World, call func(context.Context, *strand.Comm) error) (ended chan []error) {
	ended = make(chan []error, 1)
	var waits []watched
	for range who {
		waits = append(waits, watched{ctx, make(chan struct{}), new(sync.Once)})
	}
	go func() {
		errs := make([]error, len(who))
		var all sync.WaitGroup
		for i, one := range who {
			all.Go(func() { errs[i] = call(waits[i], one.Comm()) })
		}
		all.Wait()
		ended <- errs
	}()
	for _, w := range waits {
		<-w.waits
	}
	return ended
}

// byMemory are the calls of needing that blocking ranks make by memory.
var byMemory = []string{"Barrier", "Allgather", "Alltoall", "Allreduce"}

// Who comes late wakes those who sleep.
func TestWhoSleepsIsWoken(t *testing.T) {
	for _, name := range byMemory {
		t.Run(name, func(t *testing.T) {
			w := warmed(t, 4)
			for range 3 {
				ended := sleeping(world.Context(t), w[:3], needing[name])
				require.NoError(t, needing[name](world.Context(t), w[3].Comm()))
				require.NoError(t, errors.Join(<-ended...))
			}
		})
	}
}

// A rank that dies, leaves the call or leaves the world ends the sleep of those who wait for it.
func TestWhoSleepsHearsOfTheEnd(t *testing.T) {
	for i, name := range byMemory {
		t.Run(name, func(t *testing.T) {
			const n, victim = 4, 2
			end := ends(t, i)
			end("dies", func(t *testing.T) {
				jobs := world.ToldJobs(n)
				w := openTold(t, jobs, strand.WithParam("btl", "sm,self"))
				together(t, w, warm)
				ended := sleeping(world.Context(t), slices.Concat(w[:victim], w[victim+1:]), needing[name])
				jobs[victim].Abort(1, "it dies")
				for _, err := range <-ended {
					e, is := errors.AsType[*strand.PeerFailedError](err)
					require.True(t, is, "%v", err)
					assert.Equal(t, victim, e.Rank)
				}
				goOn(world.Context(t), t, slices.Concat(w[:victim], w[victim+1:]))
			})
			end("leaves the call", func(t *testing.T) {
				w := warmed(t, n)
				over, cancel := context.WithCancel(world.Context(t))
				left := sleeping(over, w[victim:victim+1], needing[name])
				ended := sleeping(world.Context(t), w[:victim], needing[name])
				cancel()
				require.ErrorIs(t, errors.Join(<-left...), context.Canceled)
				for _, err := range <-ended {
					require.ErrorIs(t, err, strand.ErrOutOfStep)
				}
				// Who has all that it needs of the others may complete this call, but not the next one.
				if err := needing[name](world.Context(t), w[n-1].Comm()); err == nil {
					require.ErrorIs(t, w[n-1].Comm().Barrier(world.Context(t)), strand.ErrOutOfStep)
				} else {
					require.ErrorIs(t, err, strand.ErrOutOfStep)
				}
				goOn(world.Context(t), t, w)
			})
			end("is closed", func(t *testing.T) {
				before := mappings(t)
				w := warmed(t, n)
				ended := sleeping(world.Context(t), w[:1], needing[name])
				world.Close(t, w...)
				require.Error(t, errors.Join(<-ended...))
				require.Equal(t, before, mappings(t))
			})
		})
	}
}

// ends returns what runs the tests of how a rank may end: all of them, or from day to day one of three for each call, and
// another one for the next call.
func ends(t *testing.T, call int) func(name string, test func(t *testing.T)) {
	tests := 0
	return func(name string, test func(t *testing.T)) {
		if tests++; need.Thorough() || (tests+call)%3 == 0 {
			t.Run(name, test)
		}
	}
}

// What a rank lends is its own again when it leaves the call. Nobody takes what is there then for what was lent.
func TestWhatIsTakenBackIsNotRead(t *testing.T) {
	const n, length = 2, 100_000
	for name, call := range map[string]func(context.Context, *strand.Comm, []byte) error{
		"Bcast": func(ctx context.Context, c *strand.Comm, b []byte) error { return c.Bcast(ctx, b[:length], 0) },
		"Scatter": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Scatter(ctx, b, make([]byte, length), 0)
		},
		"Gather": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Gather(ctx, b[:length], make([]byte, n*length), 1)
		},
		"Reduce": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return strand.Reduce(ctx, c, strand.Max[byte](), b[:length], b[length:], 1)
		},
		"Allgather": func(ctx context.Context, c *strand.Comm, b []byte) error { return c.Allgather(ctx, b[:length], b) },
		"Alltoallv": func(ctx context.Context, c *strand.Comm, b []byte) error {
			return c.Alltoallv(ctx, [][]byte{b[:length], b[length:]}, [][]byte{make([]byte, length), make([]byte, length)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			lent := []strand.Option{}
			for _, algorithm := range []string{"coll_bcast", "coll_scatter", "coll_gather", "coll_reduce", "coll_allgather"} {
				lent = append(lent, strand.WithParam(algorithm, "lent"))
			}
			w := warmed(t, n, lent...)
			over, cancel := context.WithCancel(world.Context(t))
			memory := make([]byte, n*length)
			left := sleeping(over, w[:1], func(ctx context.Context, c *strand.Comm) error { return call(ctx, c, memory) })
			cancel()
			require.ErrorIs(t, errors.Join(<-left...), context.Canceled)
			for i := range memory {
				memory[i] = 1
			}
			require.ErrorIs(t, call(world.Context(t), w[1].Comm(), make([]byte, n*length)), strand.ErrOutOfStep)
		})
	}
}

// Calls that do not fit are found where memory shows it, and name the rank. That the first rank's calls end too shows that nobody waits for ever.
func TestMistakesByMemory(t *testing.T) {
	bcast := func(n int) func(context.Context, *strand.Comm) error {
		return func(ctx context.Context, c *strand.Comm) error { return c.Bcast(ctx, make([]byte, n), 0) }
	}
	allgather := func(n int) func(context.Context, *strand.Comm) error {
		return func(ctx context.Context, c *strand.Comm) error {
			return c.Allgather(ctx, make([]byte, n), make([]byte, 2*n))
		}
	}
	barrier := func(ctx context.Context, c *strand.Comm) error { return c.Barrier(ctx) }
	// A root of the second call that waits for places of the first: it shows nothing that would wake the other rank.
	ahead := func(ctx context.Context, c *strand.Comm) error {
		for range 20 {
			if err := c.Bcast(ctx, make([]byte, 8), 0); err != nil {
				return err
			}
		}
		return nil
	}
	gather := func(ctx context.Context, c *strand.Comm) error {
		return c.Gather(ctx, make([]byte, 9000), make([]byte, 2*9000), 1)
	}
	// Of more than 64 KB for each it is made by memory that is lent.
	alltoall := func(n int) func(context.Context, *strand.Comm) error {
		return func(ctx context.Context, c *strand.Comm) error {
			return c.Alltoall(ctx, make([]byte, 2*n), make([]byte, 2*n))
		}
	}
	alltoallv := func(ctx context.Context, c *strand.Comm) error {
		return c.Alltoallv(ctx, [][]byte{make([]byte, 8), nil}, [][]byte{make([]byte, 8), nil})
	}
	for name, c := range map[string]struct {
		first, second func(context.Context, *strand.Comm) error
		want          string
	}{
		"other lengths":          {bcast(8), bcast(16), "Bcast: rank 0 has sent 8 bytes where 16 are due on rank 1"},
		"other calls":            {bcast(8), barrier, "Barrier: rank 0 has sent 8 bytes where 0 are due on rank 1"},
		"much longer":            {bcast(8), bcast(9000), "Bcast: rank 0 has made another call without what is due on rank 1"},
		"much longer, by a root": {bcast(9000), bcast(8), "Bcast: rank 0 has "},
		"much longer everywhere": {allgather(8), allgather(9000), "Allgather: rank 0 has "},
		"a loan, and not":        {alltoall(400_000), alltoall(16), "Alltoall: rank 0 has sent 800000 bytes where 32 are due on rank 1"},
		"no loan":                {alltoall(16), alltoall(400_000), "Alltoall: rank 0 has made another call without what is due on rank 1"},
		"another loan":           {alltoall(400_000), alltoall(400_001), "Alltoall: rank 0 has sent 800000 bytes where 800002 are due on rank 1"},
		"a loan, any length due": {alltoall(400_000), alltoallv, "Alltoallv: rank 0 has made another call without what is due on rank 1"},
		"many calls ahead":       {ahead, gather, "Gather: rank 0 has made another call without what is due on rank 1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := warmed(t, 2)
			errs := each(comms(w), func(comm *strand.Comm) error {
				ctx := world.Context(t)
				if comm.Rank() == 1 {
					return c.second(ctx, comm)
				}
				if err := c.first(ctx, comm); err != nil {
					return err
				}
				return barrier(ctx, comm)
			})
			if errs[1] == nil || !errors.Is(errs[1], strand.ErrOutOfStep) { // rank 0 may have found it first
				assert.ErrorContains(t, errs[1], c.want)
			}
			require.Error(t, errs[0])
		})
	}
}

// counted counts how often somebody begins to wait.
type counted struct {
	context.Context
	waits chan struct{}
}

func (c counted) Done() <-chan struct{} {
	select {
	case c.waits <- struct{}{}:
	default:
	}
	return c.Context.Done()
}

// Who waits for a rank that has gone on to a later call hears of it although that one shows nothing there, and waits itself.
func TestWhoIsAheadWakesWhoWaitsInVain(t *testing.T) {
	w := warmed(t, 2)
	ctx := world.Context(t)
	late := counted{ctx, make(chan struct{}, 100)}
	ended := make(chan error, 1)
	go func() { ended <- w[1].Comm().Barrier(late) }()
	<-late.waits
	require.NoError(t, w[0].Comm().Bcast(ctx, nil, 1)) // what the other rank shows for its barrier fits
	<-late.waits
	require.ErrorIs(t, w[0].Comm().Bcast(ctx, nil, 1), strand.ErrOutOfStep)
	require.ErrorContains(t, <-ended, "Barrier: rank 0 has made another call without what is due on rank 1")
}

// BenchmarkMakingMemory shows what it takes to make memory in common: the call in which that is done, and one by it.
func BenchmarkMakingMemory(b *testing.B) {
	for _, n := range []int{2, 4, 8, 16} {
		b.Run(fmt.Sprintf("%d ranks", n), func(b *testing.B) {
			w := world.Open(b, n, strand.WithParam("btl", "sm,self"))
			for b.Loop() {
				b.StopTimer()
				dups := make([]*strand.Comm, n)
				on := func(call func(c *strand.Comm) error) {
					require.NoError(b, errors.Join(each(comms(w), call)...))
				}
				on(func(c *strand.Comm) (err error) {
					if dups[c.Rank()], err = c.Dup(b.Context()); err == nil {
						err = barriers(b.Context(), dups[c.Rank()], making-1)
					}
					return err
				})
				b.StartTimer()
				on(func(c *strand.Comm) error { return barriers(b.Context(), dups[c.Rank()], 2) })
				b.StopTimer()
				on(func(c *strand.Comm) error { return dups[c.Rank()].Free() })
				b.StartTimer()
			}
		})
	}
}

// What ranks tell each other while they make the memory is no buffer of the caller's.
func TestWhoLeavesWhileMemoryIsMade(t *testing.T) {
	w := world.Open(t, 3, append(world.Settings["no credit at all"], strand.WithParam("btl", "sm,self"))...)
	together(t, w, func(ctx context.Context, c *strand.Comm) error { return barriers(ctx, c, making-1) })
	giveUp(world.Context(t), t, func(ctx context.Context) error {
		err := w[0].Comm().Barrier(ctx) // which waits until rank 2 asks for what it sends
		assert.NotErrorIs(t, err, strand.ErrUnderway)
		return err
	})
}
