package commons

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/sealed"
)

// memories are those of so many ranks, all in this process.
func memories(t *testing.T, ranks, room int) []*Memory {
	t.Helper()
	first, ticket, handed, err := Make(ranks, room)
	require.NoError(t, err)
	defer handed()
	all := []*Memory{first}
	for rank := 1; rank < ranks; rank++ {
		m, err := Join(ticket, rank, ranks, room)
		require.NoError(t, err)
		all = append(all, m)
	}
	t.Cleanup(func() {
		for _, m := range all {
			m.Close()
		}
	})
	return all
}

// bells wake ranks that sleep.
type bells []chan struct{}

// A step is what all ranks do at a time: some show, and some look at them.
type step struct {
	most  int
	shows func(rank int) (bytes int, shows bool)
	looks func(rank, at int) bool
}

func drawStep(r *rand.Rand, ranks, room int) step {
	s := step{most: []int{0, 8, r.IntN(100), r.IntN(shortRoom + 2), r.IntN(room + 1)}[r.IntN(5)]}
	s.most = min(s.most, room)
	kind, one, fewer := r.IntN(4), r.IntN(ranks), r.IntN(s.most+1)
	s.shows = func(rank int) (int, bool) {
		if kind == 1 {
			return s.most, rank == one
		}
		return max(s.most-rank*fewer, 0), true
	}
	s.looks = func(rank, at int) bool {
		_, shows := s.shows(at)
		return shows && rank != at && (kind != 2 || rank == one)
	}
	return s
}

// await waits as a rank does that looks now and then, or sleeps.
func await(m *Memory, at int, what Awaited, sleeps bool, own chan struct{}) {
	for !m.Has(at, what) {
		if !sleeps {
			runtime.Gosched()
			continue
		}
		if m.Wait(at); m.Has(at, what) && m.Awake() {
			return
		}
		<-own
	}
}

func wake(m *Memory, all bells) {
	for at := m.Sleeper(0); at >= 0; at = m.Sleeper(at + 1) {
		all[at] <- struct{}{}
	}
}

// make makes the step as one rank.
func (s step) make(m *Memory, number uint64, r *rand.Rand, all bells) error {
	m.Begin(s.most, number)
	whole := true
	if n, shows := s.shows(m.own); shows {
		for at := m.Reader(); at >= 0; at = m.Reader() {
			await(m, at, Past, r.IntN(2) == 0, all[m.own])
		}
		written(m.Place(n), number, m.own)
		m.Show(n, number%5 == 0)
		wake(m, all)
	}
	for at := range m.ranks {
		if !s.looks(m.own, at) {
			whole = whole && at == m.own
			continue
		}
		await(m, at, Shown, r.IntN(2) == 0, all[m.own])
		b, lends, err := m.Look(at)
		if err != nil {
			return err
		}
		if lends != (number%5 == 0) {
			return fmt.Errorf("step %d: rank %d finds that rank %d lends: %v", number, m.own, at, lends)
		}
		want, _ := s.shows(at)
		if expected := written(make([]byte, want), number, at); string(expected) != string(b) {
			return fmt.Errorf("step %d: rank %d finds %.20x… of rank %d, and not %.20x…", number, m.own, b, at, expected)
		}
	}
	if whole {
		m.SawAll()
	}
	m.End()
	wake(m, all)
	return nil
}

// written fills b with what a rank shows in a step.
func written(b []byte, number uint64, rank int) []byte {
	for i := range b {
		b[i] = byte(number)*31 + byte(rank)*7 + byte(i)
	}
	return b
}

// Whoever looks finds what was shown in that step, whatever others do meanwhile, and whoever sleeps is woken.
func TestSteps(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			ranks, room := 1+r.IntN(9), []int{64, shortRoom, 20 << 10}[r.IntN(3)]
			var steps []step
			for range 300 {
				steps = append(steps, drawStep(r, ranks, room))
			}
			var all bells
			for range ranks {
				all = append(all, make(chan struct{}, 1))
			}
			var wg sync.WaitGroup
			for _, m := range memories(t, ranks, room) {
				own := rand.New(rand.NewPCG(seed, uint64(m.own)+1))
				wg.Go(func() {
					for i, s := range steps {
						if err := s.make(m, uint64(i)+1, own, all); err != nil {
							t.Error(err)
							os.Exit(1) // the others would wait for ever
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// Who is beyond a step will do nothing more in it: who has begun a later one, or another kind of it. Numbers of calls come round.
func TestBeyond(t *testing.T) {
	const call = 1<<callAt - 1
	for name, c := range map[string]struct {
		begin  func(m *Memory)
		beyond bool
		behind bool
	}{
		"the same step":            {func(m *Memory) { m.Begin(0, call) }, false, false},
		"the step before":          {func(*Memory) {}, false, false},
		"a later step":             {func(m *Memory) { m.Begin(0, call); m.Begin(0, call) }, true, false},
		"a later step of its kind": {func(m *Memory) { m.Begin(0, call); m.Begin(shortRoom+1, call) }, true, false},
		"another kind of step":     {func(m *Memory) { m.Begin(shortRoom+1, call) }, true, false},
		"a later call":             {func(m *Memory) { m.Begin(0, call); m.Begin(shortRoom+1, call+1) }, true, false},
		"an earlier call":          {func(m *Memory) { m.Begin(0, call-1) }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			all := memories(t, 2, 2*shortRoom)
			for _, m := range all {
				if m.Begin(0, call-1); !c.behind {
					m.Begin(0, call)
				}
			}
			if all[0].Begin(0, call); c.behind {
				all[0].Begin(0, call)
			}
			assert.False(t, all[0].Beyond(1))
			c.begin(all[1])
			assert.Equal(t, c.beyond, all[0].Beyond(1))
			assert.Equal(t, c.behind, all[0].Behind(1))
		})
	}
}

// Nonsense in the memory is an error, and nothing beyond the place is read.
func TestNonsense(t *testing.T) {
	all := memories(t, 2, shortRoom)
	all[0].Begin(8, 1)
	place := all[1].now.place(1, 2)
	all[1].word(place).Store(1<<lengthBits | (shortRoom + 1))
	assert.True(t, all[0].Has(1, Shown))
	_, _, err := all[0].Look(1)
	assert.ErrorContains(t, err, "malformed memory: rank 1 shows 4097 bytes")
}

// What a ticket names is not mapped unless it is the memory that was meant.
func TestTicketsThatAreRefused(t *testing.T) {
	const ranks, room = 2, 8 << 10
	_, good, handed, err := Make(ranks, room)
	require.NoError(t, err)
	defer handed()
	changed := func(at int, v uint64) Ticket {
		t := good
		binary.LittleEndian.PutUint64(t[at:], v)
		return t
	}
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	other, _, err := sealed.Make(name, page, true)
	require.NoError(t, err)
	defer unix.Close(other)
	loose, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	defer unix.Close(loose)
	for want, ticket := range map[string]Ticket{
		"no such file":              changed(0, 1<<40),
		"not the memory":            changed(16, 1),
		errNotThis.Error():          changed(8, uint64(null.Fd())),
		"has 4096 bytes":            changed(8, uint64(other)),
		sealed.ErrUnsealed.Error():  changed(8, uint64(loose)),
		"no such file or directory": changed(8, 1<<30),
	} {
		_, err := Join(ticket, 1, ranks, room)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
	_, err = Join(good, 1, ranks+1, room)
	assert.ErrorContains(t, err, "bytes, and not")
	m, err := Join(good, 1, ranks, room)
	require.NoError(t, err)
	m.Close()
}
