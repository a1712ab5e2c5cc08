package whowaits_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/strandtest"
)

// asked is a job that can be asked for reports, as that of strand run.
type asked struct {
	launch.Job

	mu     sync.Mutex
	report func() any
	ended  bool
}

func (a *asked) Listen(c launch.Callbacks) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.report = c.Report
}
func (*asked) Warn(string) error { return nil }
func (*asked) CanCall() bool     { return false }
func (*asked) Call(int) error    { return nil }

func (a *asked) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

func (a *asked) tell() whowaits.Rank {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := whowaits.Rank{Rank: a.Rank(), Ended: a.ended}
	switch {
	case a.ended:
	case a.report == nil:
		r.Silent = "is not started yet"
	default:
		r.Report = a.report().(pml.Report).Waits
	}
	return r
}

type program func(ctx context.Context, w *strand.World) error

// A running program can be asked.
type running []*asked

func (r running) ask() (all []whowaits.Rank) {
	for _, a := range r {
		all = append(all, a.tell())
	}
	return all
}

// judge asks twice.
func (r running) judge() ([]whowaits.Rank, []whowaits.Finding) {
	then := r.ask()
	now := r.ask()
	return now, whowaits.Judge(then, now)
}

// start runs a program until the context ends, and the test waits for that.
func start(t *testing.T, n int, f program) running {
	ctx, cancel := context.WithCancel(t.Context())
	all := make(running, n)
	var working sync.WaitGroup
	for i, job := range strandtest.NewJobs(n) {
		all[i] = &asked{Job: job}
		working.Go(func() {
			w, err := strand.Init(ctx, strand.WithJob(all[i]), strand.WithLog(func(btl.LogLevel, string) {}))
			if !assert.NoError(t, err) {
				return
			}
			_ = f(ctx, w) // its context ends
			_ = w.Close()
			all[i].end()
		})
	}
	t.Cleanup(func() {
		cancel()
		working.Wait()
	})
	return all
}

func recv(ctx context.Context, c *strand.Comm, src, tag int) error {
	_, err := c.Recv(ctx, make([]byte, 8), src, tag)
	return err
}

// planted are programs that hang, and what is said about them.
var planted = map[string]struct {
	ranks int
	run   program
	kinds []string
	words []string
}{
	"two sends": {2, func(ctx context.Context, w *strand.World) error {
		if err := w.Comm().Send(ctx, make([]byte, 4<<20), 1-w.Rank(), 3); err != nil {
			return err
		}
		return recv(ctx, w.Comm(), 1-w.Rank(), 3)
	}, []string{"cycle"}, []string{"rank 0 waits for rank 1 (a send of 4194304 bytes to rank 1, tag 3, which no receive has taken, in Comm.Send at programs_test.go:", "rank 1 waits for rank 0 (a send of"}},

	"missing receive": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			if err := w.Comm().Ssend(ctx, make([]byte, 8), 1, 3); err != nil {
				return err
			}
		}
		return w.Comm().Barrier(ctx)
	}, []string{"collective", "cycle"}, []string{"rank 1 is in Barrier, call 1 of the world's communicator", "which rank 0 has not called", "rank 0 waits elsewhere (Comm.Ssend at programs_test.go:",
		"rank 0 waits for rank 1 (a send of 8 bytes to rank 1, tag 3, which no receive has taken"}},

	"missing send": {2, func(ctx context.Context, w *strand.World) error {
		return recv(ctx, w.Comm(), 1-w.Rank(), 7)
	}, []string{"cycle"}, []string{"rank 0 waits for rank 1 (a receive from rank 1, tag 7, in Comm.Recv at programs_test.go:"}},

	"wrong tag": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			return recv(ctx, w.Comm(), 0, 5)
		}
		if err := w.Comm().Send(ctx, make([]byte, 8), 1, 6); err != nil {
			return err
		}
		return recv(ctx, w.Comm(), 1, 1)
	}, []string{"tag", "cycle"}, []string{"nothing matches what rank 1 waits for: a receive from rank 0, tag 5", "From rank 0 there is a message of 8 bytes with tag 6: wrong tag?"}},

	"wrong communicator": {2, func(ctx context.Context, w *strand.World) error {
		d, err := w.Comm().Dup(ctx)
		if err != nil {
			return err
		}
		if w.Rank() == 1 {
			return recv(ctx, d, 0, 5)
		}
		if err := w.Comm().Send(ctx, make([]byte, 8), 1, 5); err != nil {
			return err
		}
		return recv(ctx, w.Comm(), 1, 1)
	}, []string{"communicator", "cycle"}, []string{"a receive from rank 0, tag 5, in communicator 0.1", "with tag 5 in another communicator, the world's communicator: wrong communicator?"}},

	"collective calls out of order": {2, func(ctx context.Context, w *strand.World) error {
		d, err := w.Comm().Dup(ctx)
		if err != nil {
			return err
		}
		first, second := w.Comm(), d
		if w.Rank() == 1 {
			first, second = second, first
		}
		if err := first.Barrier(ctx); err != nil {
			return err
		}
		return second.Barrier(ctx)
	}, []string{"collective", "collective", "cycle"}, []string{"rank 0 is in Barrier, call 2 of the world's communicator", "rank 1 is in Barrier of communicator 0.1, out of order"}},

	"two roots": {2, func(ctx context.Context, w *strand.World) error {
		return w.Comm().Bcast(ctx, make([]byte, 8), 1-w.Rank())
	}, []string{"cycle"}, []string{"collective call 1, in Comm.Bcast at programs_test.go:"}},

	"a collective call that one does not make": {3, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 2 {
			return recv(ctx, w.Comm(), 0, 4)
		}
		return w.Comm().Barrier(ctx)
	}, nil, []string{"rank 0 is in Barrier, call 1 of the world's communicator", "which rank 2 has not called: rank 2 waits elsewhere (Comm.Recv at programs_test.go:"}},

	"a rank that has ended": {3, func(ctx context.Context, w *strand.World) error {
		switch w.Rank() {
		case 0:
			return recv(ctx, w.Comm(), strand.AnySource, 1)
		case 1:
			return recv(ctx, w.Comm(), 0, 2)
		}
		return nil
	}, []string{"nobody"}, []string{"rank 2: has ended", "nothing is coming for rank 0 (a receive from any source, tag 1"}},

	"any source": {2, func(ctx context.Context, w *strand.World) error {
		return recv(ctx, w.Comm(), strand.AnySource, strand.AnyTag)
	}, []string{"nobody", "nobody"}, []string{"nothing is coming for rank 1 (a receive from any source, any tag"}},

	"three in a ring": {3, func(ctx context.Context, w *strand.World) error {
		return recv(ctx, w.Comm(), (w.Rank()+1)%3, 1)
	}, []string{"cycle"}, []string{"rank 0 waits for rank 1 (", "rank 1 waits for rank 2 (", "rank 2 waits for rank 0 ("}},

	"a receive behind many that nobody waits for": {2, func(ctx context.Context, w *strand.World) error {
		if _, err := startMany(w.Comm(), many, 1-w.Rank()); err != nil {
			return err
		}
		return recv(ctx, w.Comm(), 1-w.Rank(), 1)
	}, []string{"cycle"}, []string{"rank 0: waits for a receive from rank 1, tag 1, in Comm.Recv at programs_test.go:", "has started a receive from rank 1, tag 9"}},

	"many messages that nobody takes": {4, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			return recv(ctx, w.Comm(), 1, 2)
		}
		for range many / 3 {
			if err := w.Comm().Send(ctx, make([]byte, 8), 0, 1); err != nil {
				return err
			}
		}
		return w.Comm().Ssend(ctx, make([]byte, 8), 0, 1)
	}, []string{"tag", "cycle"}, []string{"rank 0 waits for rank 1 (a receive from rank 1, tag 2,", "rank 1 waits for rank 0 (a send of 8 bytes to rank 0, tag 1, which no receive has taken"}},

	"a call that goes on by itself": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			return recv(ctx, w.Comm(), 1, 1)
		}
		r, err := w.Comm().Ibarrier()
		if err != nil {
			return err
		}
		_, err = r.Wait(ctx)
		return err
	}, []string{"cycle"}, []string{"a call that goes on by itself, in Request.Wait at programs_test.go:", "rank 1: waits for a receive from rank 0, collective call 1, in a call that goes on by itself\n"}},

	"a member that does not come": {3, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 2 {
			return recv(ctx, w.Comm(), 0, 1)
		}
		_, err := w.Comm().Create(ctx, []int{0, 1, 2})
		return err
	}, []string{"cycle"}, []string{"rank 0: waits for a receive from rank 2, a collective call, in Comm.Create\n", "rank 1: waits for a receive from rank 0, a collective call, in Comm.Create\n"}},

	"two roots, and one that has done its part": {3, func(ctx context.Context, w *strand.World) error {
		root := w.Rank() / 2 * 2
		err := w.Comm().Gather(ctx, make([]byte, 8), make([]byte, 24), root)
		if w.Rank() == 1 {
			<-ctx.Done() // it computes: if it ended, rank 2 might learn that and end too
		}
		return err
	}, []string{"cycle"}, []string{"rank 0 waits for rank 2 (a receive from rank 2, collective call 1, in Comm.Gather at programs_test.go:"}},

	"an agreement that one does not come to": {3, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			return recv(ctx, w.Comm(), 2, 1)
		}
		_, err := w.Comm().Agree(ctx, 1)
		return err
	}, []string{"collective"}, []string{"rank 0 is in an agreement of the world's communicator (Comm.Agree at programs_test.go:", "to which rank 1 has not come: rank 1 waits elsewhere (Comm.Recv at programs_test.go:"}},

	"a barrier beside Shrink": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			return w.Comm().Barrier(ctx)
		}
		_, err := w.Comm().Shrink(ctx)
		return err
	}, []string{"collective", "collective"}, []string{"rank 0 is in Barrier, call 1 of the world's communicator", "which rank 1 has not called: rank 1 waits elsewhere (Comm.Shrink at programs_test.go:", "rank 1 is in an agreement"}},

	"a message that a matched probe has taken": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			return w.Comm().Ssend(ctx, make([]byte, 8), 0, 3)
		}
		if _, err := w.Comm().Mprobe(ctx, 1, 3); err != nil {
			return err
		}
		return recv(ctx, w.Comm(), 1, 4)
	}, []string{"cycle"}, []string{"rank 0: has not received a message that a matched probe has taken: from rank 1, tag 3, 8 bytes", "rank 1 waits for rank 0 (a send of 8 bytes to rank 0, tag 3, which no receive has taken"}},

	"a communicator that one has not made": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 1 {
			return recv(ctx, w.Comm(), 0, 3)
		}
		d, err := w.Comm().Dup(ctx)
		if err != nil {
			return err
		}
		return d.Ssend(ctx, make([]byte, 8), 1, 3)
	}, []string{"communicator", "cycle"}, []string{"rank 1: has no receive for a message from rank 0, tag 3, 8 bytes, in communicator 0.1, which it has not made"}},

	"a send to itself": {2, func(ctx context.Context, w *strand.World) error {
		return w.Comm().Ssend(ctx, make([]byte, 8), w.Rank(), 3)
	}, []string{"cycle", "cycle"}, []string{"rank 1 waits for itself (a send of 8 bytes to rank 1, tag 3, which no receive has taken"}},

	"messages of two ranks that nobody takes": {3, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			if err := recv(ctx, w.Comm(), 1, 3); err != nil { // those of rank 1 have come
				return err
			}
			if err := w.Comm().Send(ctx, make([]byte, 8), 2, 3); err != nil {
				return err
			}
			return recv(ctx, w.Comm(), strand.AnySource, 2)
		}
		if w.Rank() == 2 {
			if err := recv(ctx, w.Comm(), 0, 3); err != nil {
				return err
			}
		}
		var all []strand.Request
		for range many {
			r, err := w.Comm().Issend(make([]byte, 8), 0, 1)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		if w.Rank() == 1 {
			if err := w.Comm().Send(ctx, make([]byte, 8), 0, 3); err != nil {
				return err
			}
		}
		return strand.WaitAll(ctx, all, nil)
	}, []string{"tag", "nobody"}, []string{"rank 1: waits for a send", "rank 2: waits for a send"}},

	"requests and probes": {2, func(ctx context.Context, w *strand.World) error {
		if w.Rank() == 0 {
			_, err := w.Comm().Probe(ctx, 1, 9)
			return err
		}
		a, err := w.Comm().Irecv(make([]byte, 8), 0, 1)
		if err != nil {
			return err
		}
		b, err := w.Comm().Irecv(make([]byte, 8), 0, 2)
		if err != nil {
			return err
		}
		return strand.WaitAll(ctx, []strand.Request{a, b}, nil)
	}, []string{"cycle"}, []string{"a probe for a message from rank 1, tag 9, in Comm.Probe at programs_test.go:", "a receive from rank 0, tag 1, in WaitAll at programs_test.go:"}},
}

// many is more than a report tells of.
const many = whowaits.Most + 100

// startMany starts receives that nobody sends to.
func startMany(c *strand.Comm, n, from int) (all []strand.Request, err error) {
	for range n {
		r, err := c.Irecv(make([]byte, 8), from, 9)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// A planted deadlock is explained in words.
func TestPlantedDeadlocks(t *testing.T) {
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			job := start(t, p.ranks, p.run)
			var ranks []whowaits.Rank
			var kinds []string
			text := ""
			explained := func() bool {
				var found []whowaits.Finding
				ranks, found = job.judge()
				var b strings.Builder
				whowaits.Write(&b, ranks, found, nil)
				kinds, text = nil, b.String()
				for _, f := range found {
					kinds = append(kinds, f.Kind)
				}
				for _, words := range p.words {
					if !strings.Contains(text, words) {
						return false
					}
				}
				return p.kinds == nil || assert.ObjectsAreEqual(p.kinds, kinds)
			}
			assert.Eventually(t, explained, time.Minute, time.Millisecond, "it does not say so")
			t.Logf("%s", text)
		})
	}
}

// Who waits for any of more receives than are told of may go on by one that is not.
func TestWaitForAnyOfMany(t *testing.T) {
	job := start(t, 3, func(ctx context.Context, w *strand.World) error {
		switch w.Rank() {
		case 1:
			return recv(ctx, w.Comm(), 0, 1)
		case 2:
			<-ctx.Done() // it computes, and would then send
			return ctx.Err()
		}
		reqs, err := startMany(w.Comm(), many, 1)
		if err != nil {
			return err
		}
		more, err := startMany(w.Comm(), 1, 2)
		if err != nil {
			return err
		}
		_, _, err = strand.WaitAny(ctx, append(reqs, more...))
		return err
	})
	var ranks []whowaits.Rank
	var found []whowaits.Finding
	require.Eventually(t, func() bool {
		ranks, found = job.judge()
		return ranks[0].Report != nil && len(ranks[0].Report.Waits) == whowaits.Most && ranks[0].Report.Waits[0].Blocked &&
			ranks[1].Report != nil && len(ranks[1].Report.Waits) == 1
	}, time.Minute, time.Millisecond)
	assert.Empty(t, found)
	assert.True(t, ranks[0].Report.Cut)
}

// Who computes while a collective call goes on by itself is in no call that waits.
func TestComputingBesideACollectiveCall(t *testing.T) {
	for name, call := range map[string]func(*strand.Comm) (strand.Request, error){
		"one receive": (*strand.Comm).Ibarrier,
		"several":     func(c *strand.Comm) (strand.Request, error) { return c.Ialltoall(make([]byte, 24), make([]byte, 24)) },
	} {
		t.Run(name, func(t *testing.T) {
			job := start(t, 3, func(ctx context.Context, w *strand.World) error {
				if w.Rank() > 0 {
					return recv(ctx, w.Comm(), 0, 1)
				}
				_, err := call(w.Comm())
				<-ctx.Done() // it computes, and would then send
				return err
			})
			waits := func(r *whowaits.Rank) bool {
				return r.Report != nil && slices.ContainsFunc(r.Report.Waits, func(w whowaits.Wait) bool { return w.Blocked && w.Call != nil })
			}
			var ranks []whowaits.Rank
			var found []whowaits.Finding
			require.Eventually(t, func() bool {
				ranks, found = job.judge()
				return waits(&ranks[0]) && waits(&ranks[1]) && waits(&ranks[2])
			}, time.Minute, time.Millisecond)
			assert.Empty(t, found)
			var b strings.Builder
			whowaits.Write(&b, ranks, found, whowaits.Awaited(ranks, ranks))
			assert.Contains(t, b.String(), "Others wait for rank 0, which is in no call that waits: computing")
		})
	}
}

// Each probe is another wait, though its memory may be that of the one before: who probes again and again goes on.
func TestEachProbeIsAnotherWait(t *testing.T) {
	next := make(chan struct{})
	job := start(t, 1, func(ctx context.Context, w *strand.World) error {
		for ctx.Err() == nil {
			ctx, cancel := context.WithCancel(ctx)
			go func() {
				select {
				case <-next:
				case <-ctx.Done():
				}
				cancel()
			}()
			_, _ = w.Comm().Probe(ctx, 0, 9)
			cancel()
		}
		return ctx.Err()
	})
	waited := func(id *uint64, after uint64) func() bool {
		return func() bool {
			r := job.ask()[0].Report
			if r == nil || len(r.Waits) == 0 || r.Waits[0].ID == after {
				return false
			}
			*id = r.Waits[0].ID
			return true
		}
	}
	var first, second uint64
	require.Eventually(t, waited(&first, 0), time.Minute, time.Millisecond)
	next <- struct{}{}
	require.Eventually(t, waited(&second, first), time.Minute, time.Millisecond)
	assert.Equal(t, first+1, second, "they are counted")
}

// Of each call that waits it is known when its context ends.
func TestCallsWithDeadlines(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, c *strand.Comm) error{
		"Recv":    func(ctx context.Context, c *strand.Comm) error { return recv(ctx, c, 1, 1) },
		"Ssend":   func(ctx context.Context, c *strand.Comm) error { return c.Ssend(ctx, make([]byte, 8), 1, 1) },
		"Barrier": func(ctx context.Context, c *strand.Comm) error { return c.Barrier(ctx) },
		"Probe": func(ctx context.Context, c *strand.Comm) error {
			_, err := c.Probe(ctx, 1, 1)
			return err
		},
		"Agree": func(ctx context.Context, c *strand.Comm) error {
			_, err := c.Agree(ctx, 1)
			return err
		},
		"Wait": func(ctx context.Context, c *strand.Comm) error {
			r, err := c.Irecv(make([]byte, 8), 1, 1)
			if err == nil {
				_, err = r.Wait(ctx)
			}
			return err
		},
		"WaitAll": func(ctx context.Context, c *strand.Comm) error {
			all, err := startMany(c, 2, 1)
			if err == nil {
				err = strand.WaitAll(ctx, all, nil)
			}
			return err
		},
		"WaitAny": func(ctx context.Context, c *strand.Comm) error {
			all, err := startMany(c, 2, 1)
			if err == nil {
				_, _, err = strand.WaitAny(ctx, all)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := start(t, 2, func(ctx context.Context, w *strand.World) error {
				if w.Rank() == 1 {
					return recv(ctx, w.Comm(), 0, 2)
				}
				ctx, cancel := context.WithTimeout(ctx, 100*time.Hour)
				defer cancel()
				return call(ctx, w.Comm())
			})
			explained := func() bool {
				ranks, found := job.judge()
				var b strings.Builder
				whowaits.Write(&b, ranks, found, nil)
				return len(found) > 0 && !whowaits.Lasts(found) && strings.Contains(b.String(), ", until its context ends in 99h59m")
			}
			assert.Eventually(t, explained, time.Minute, time.Millisecond, "it does not say so")
		})
	}
}

// Nothing is found about a program that goes on, whenever it is asked.
func TestProgramThatGoesOn(t *testing.T) {
	rounds := make(chan struct{}, 1)
	job := start(t, 3, func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		for {
			if w.Rank() == 0 {
				select {
				case rounds <- struct{}{}:
				default:
				}
				if err := c.Ssend(ctx, make([]byte, 8), 1, 1); err != nil {
					return err
				}
				if err := recv(ctx, c, 2, 1); err != nil {
					return err
				}
			} else {
				if err := recv(ctx, c, w.Rank()-1, 1); err != nil {
					return err
				}
				if err := c.Send(ctx, make([]byte, 8), (w.Rank()+1)%3, 1); err != nil {
					return err
				}
			}
			if err := c.Barrier(ctx); err != nil {
				return err
			}
		}
	})
	for range 20 {
		<-rounds
		ranks, found := job.judge()
		assert.Empty(t, found, "%+v", ranks)
	}
}
