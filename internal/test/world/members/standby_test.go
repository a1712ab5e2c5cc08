package members_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/chaos"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
)

// fastBeforeTCP is a fast network that silences TCP. A process that is away for a while does
// not count as silent.
func fastBeforeTCP() (*chaos.Component, []strand.Option) {
	c := chaos.Calm()
	c.Exclusivity = 1000
	fast, transports := chaos.New(c), new(btl.Registry)
	transports.Register(fast)
	transports.Register(btl.Default.Lookup("tcp"))
	return fast, []strand.Option{strand.WithTransports(transports), strand.WithParam("btl", ""), strand.WithParam("pml_rail_timeout", "1m")}
}

// exchangeAll has both ranks send messages of all protocols to each other.
func exchangeAll(t *testing.T, worlds []*strand.World, tag int) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for rank, w := range worlds {
		wg.Go(func() {
			for _, n := range []int{8, 5000, 1 << 20} {
				in := make([]byte, n)
				out := world.Pattern(n, tag+rank)
				if _, err := w.Comm().Sendrecv(world.Context(t), out, 1-rank, tag, in, 1-rank, tag); err != nil {
					errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
					return
				}
				world.Equal(t, world.Pattern(n, tag+1-rank), in, "rank %d, tag %d", rank, tag)
			}
		})
	}
	wg.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
}

// carried returns what rank 0 has sent over each transport.
func carried(w *strand.World) map[string]strand.Traffic {
	all := make(map[string]strand.Traffic)
	for _, r := range w.Rails() {
		all[r.Component] = r.Traffic
	}
	return all
}

// acquainted has two worlds over the fast network meet. A first contact that takes
// long, as where this process is away for a while, calls in what stands by, so that is
// done again with others.
func acquainted(t *testing.T) (*chaos.Component, []*strand.World) {
	t.Helper()
	const soon, attempts = 200 * time.Millisecond, 20
	for n := 1; ; n++ {
		fast, opts := fastBeforeTCP()
		worlds := world.Open(t, 2, opts...)
		began := time.Now()
		exchangeAll(t, worlds, 1)
		if time.Since(began) < soon || n == attempts {
			return fast, worlds
		}
		world.Close(t, worlds...)
	}
}

// A transport that stands by takes over while no connection of the chosen one works,
// and no longer.
func TestStandbyTakesOver(t *testing.T) {
	fast, worlds := acquainted(t)
	require.Len(t, worlds[0].Rails(), 1, "nobody connects what stands by before it is needed")
	assert.Contains(t, fmt.Sprint(worlds[0].Reasons()[1]), "tcp: stands by: its exclusivity 100 is below 1000, that of chaos")

	fast.SetWeather(chaos.Gone)
	exchangeAll(t, worlds, 2)
	exchangeAll(t, worlds, 3)
	assert.NotZero(t, carried(worlds[0])["tcp"].BytesSent)
	assert.Contains(t, fmt.Sprint(worlds[0].Reasons()[1]), "tcp stood by and is called in: ")

	fast.SetWeather(chaos.Fair)
	for back := false; !back; { // the pauses between attempts have grown meanwhile, and then it has a trial
		before := []strand.Traffic{carried(worlds[0])["chaos"], carried(worlds[1])["chaos"]}
		exchangeAll(t, worlds, 4)
		back = carried(worlds[0])["chaos"].Sent > before[0].Sent && carried(worlds[1])["chaos"].Sent > before[1].Sent
	}
	exchangeAll(t, worlds, 4) // what has begun over the other one ends there
	before := carried(worlds[0])
	exchangeAll(t, worlds, 5)
	after := carried(worlds[0])
	assert.Equal(t, before["tcp"], after["tcp"], "it rests")
	assert.Greater(t, after["chaos"].BytesSent, before["chaos"].BytesSent)
}

// What pml_failover does not name does not stand by.
func TestNothingStandsBy(t *testing.T) {
	leak.Check(t)
	var wait sync.WaitGroup
	for _, list := range []string{"none", "^tcp", "chaos"} {
		fast, opts := fastBeforeTCP()
		worlds := world.OpenMore(t, 2, append(opts, strand.WithParam("pml_failover", list))...)
		exchangeAll(t, worlds, 1)
		fast.SetWeather(chaos.Gone)
		wait.Go(func() { // it takes seconds until a peer counts as gone: those of all pass together
			_, err := worlds[0].Comm().Recv(world.Context(t), nil, 1, 1)
			assert.ErrorIs(t, err, strand.ErrPeerFailed, list)
			assert.Len(t, worlds[0].Rails(), 1)
		})
	}
	wait.Wait()
}

func TestBadFailover(t *testing.T) {
	for list, says := range map[string]string{
		"tpc":      `pml_failover = "tpc" (from the program): there is no transport "tpc"; did you mean tcp?`,
		"tcp,^udp": `pml_failover = "tcp,^udp" (from the program): a list either includes or excludes`,
	} {
		_, err := strand.Init(world.Context(t), strand.WithParam("pml_failover", list), strand.WithJob(nil))
		assert.ErrorContains(t, err, says)
	}
}
