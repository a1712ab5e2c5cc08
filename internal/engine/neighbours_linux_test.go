package engine

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// neighbour is a module with one peer, which waits or works on a processor, has not said where, or rests.
type neighbour struct {
	on     int // -1: it rests
	works  bool
	unsure bool
	said   []int
	waits  bool // what was last said beside it
}

func (n *neighbour) Progress() bool { return false }
func (n *neighbour) Settle(processor int, waits bool) {
	if last := len(n.said) - 1; last < 0 || n.said[last] != processor || n.waits == waits {
		n.said = append(n.said, processor)
	}
	n.waits = waits
}
func (n *neighbour) Neighbours(on, waiting *btl.Processors) bool {
	on.Add(n.on)
	if !n.works {
		waiting.Add(n.on)
	}
	return n.unsure
}

// beside has a waiter look so often beside a neighbour, while each of its yields shows that another thread has run. It returns how
// often it would have moved, and which processors it would have left alone.
func beside(t *testing.T, n *neighbour, looks int) (moves int, taken btl.Processors) {
	return besideAndFor(t, n, nil, looks)
}

// besideAndFor is beside for a waiter that expects something from a source.
func besideAndFor(t *testing.T, n *neighbour, source btl.Poller, looks int) (moves int, taken btl.Processors) {
	inner, err := newPoller()
	require.NoError(t, err)
	e := start(Options{Spin: time.Hour}, &crowded{poller: inner})
	defer e.Close()
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	e.move = func(p *btl.Processors) {
		moves, taken = moves+1, *p
		require.Equal(t, -1, n.said[len(n.said)-1], "who moves is nowhere until it has moved")
	}
	require.NoError(t, e.Wait(watchdog(t), &asked{left: looks, sooner: &moves}, source))
	return moves, taken
}

// stays keeps the thread of a test where it is, and returns where that is.
func stays(t *testing.T) int {
	runtime.LockOSThread()
	var allowed, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	cpu, ok := processor()
	require.True(t, ok)
	one.Set(cpu)
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	t.Cleanup(func() {
		require.NoError(t, unix.SchedSetaffinity(0, &allowed))
		runtime.UnlockOSThread()
	})
	return cpu
}

// Who shares its processor with a peer that waits there too moves as soon as that has run.
func TestNeighboursPart(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: here}
	moves, taken := beside(t, n, quickPolls+4)
	require.Equal(t, 1, moves, "at the first yield that another thread has used")
	require.True(t, taken.Has(here))
	require.Equal(t, here, n.said[len(n.said)-1])
}

// parking is done once a yield was taken for that of others who need the processor.
type parking struct {
	asked
	e *Engine
}

func (p *parking) Done() bool { return p.e.yields.length > 0 || p.asked.Done() }

// One that works, and was last seen on this processor, may be elsewhere by now. Where an offer of the processor takes a moment longer somebody else may
// have had it. Who moved at once would often move to where the peer works.
func TestNeighboursThatWork(t *testing.T) {
	n := &neighbour{on: stays(t), works: true}
	moves, _ := beside(t, n, quickPolls+minLong)
	require.Zero(t, moves)
	moves, _ = beside(t, n, 16*quickPolls)
	require.Equal(t, 1, moves, "with company as beside anybody else")
}

// witness is a prompter that looks at something with each poll.
type witness struct {
	prompter
	look func()
}

func (w *witness) Poll() bool { w.look(); return w.prompter.Poll() }

// The others know for how long a rank waits, and only while it does.
func TestNeighbourWaits(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: -1}
	e, _ := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	p := &witness{prompter: prompter{over: memoryPolls + 4*quickPolls}}
	p.look = func() { require.Equal(t, p.polls > memoryPolls, n.waits, "poll %d", p.polls) }
	require.NoError(t, e.Wait(watchdog(t), p, p))
	require.Equal(t, []int{here}, n.said)
	require.False(t, n.waits)
	e.Poll(nil)
	require.False(t, n.waits, "who polls by itself may be at something else")
}

// Who sends to a rank that waits on the same processor lets it have that.
func TestNeighboursMeet(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: here}
	e, clock := newEngineOn(t, Options{}, func(p poller) *still { return &still{poller: p} })
	e.Lock()
	e.AddProgressor(n)
	e.Meet(here + 1)
	require.False(t, e.owes, "it waits elsewhere")
	require.Equal(t, []int{here}, n.said, "it may wait for the processor of who sends, and is told where that is")
	e.Meet(here)
	require.False(t, e.owes, "not that often: each time takes two switches of the processor")
	clock.later.Add(meetEvery)
	e.Meet(here)
	require.True(t, e.owes)
	e.Unlock()
	e.Lock()
	require.False(t, e.owes)
	clock.later.Add(meetEvery)
	e.nearby.settle(true)
	e.Meet(here)
	require.False(t, e.owes, "who waits offers its processor anyway")
	e.Unlock()
}

// Who has nowhere to go parks where its yields are slow, as beside anybody else.
func TestNeighboursThatCanNotPart(t *testing.T) {
	n := &neighbour{on: stays(t)}
	inner, err := newPoller()
	require.NoError(t, err)
	e := start(Options{Spin: time.Hour}, &crowded{poller: inner, step: 2 * slowYield})
	defer e.Close()
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	require.NoError(t, e.Wait(watchdog(t), &parking{asked{left: 4 * quickPolls, sooner: new(int)}, e}, nil))
	require.NotZero(t, e.yields.length)
}

// Whose peer waits elsewhere does not go there. Another thread may be a reason to move all the same.
func TestNeighboursAreLeftAlone(t *testing.T) {
	elsewhere := stays(t) + 1
	moves, taken := beside(t, &neighbour{on: elsewhere}, 4*quickPolls)
	require.Equal(t, 1, moves)
	require.True(t, taken.Has(elsewhere))
}

// A peer that has been woken, or moves, will say where it is: for that moment nobody moves, and who has run may have been that peer.
func TestNeighboursThatAreNowhere(t *testing.T) {
	stays(t)
	n := &neighbour{on: -1, unsure: true}
	moves, _ := beside(t, n, quickPolls+2*maxLong)
	require.Zero(t, moves)
	require.Len(t, n.said, 1)
}

// A peer may never say where it is: it works for long after it was woken, is stopped, or leaves its threads alone. Nobody stays with
// company for its sake.
func TestNeighboursThatStayNowhere(t *testing.T) {
	stays(t)
	moves, _ := beside(t, &neighbour{on: -1, unsure: true}, 64*quickPolls)
	require.Equal(t, 1, moves)
}

// Who rests gives its processor to others.
func TestNeighbourRests(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: -1}
	e, err := New(Options{})
	require.NoError(t, err)
	defer e.Close()
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	e.nearby.settle(true)
	require.True(t, e.doze())
	require.Equal(t, []int{here, -1}, n.said)
	e.rouse()
	require.True(t, e.doze())
	require.Len(t, n.said, 2, "once")
}

// Who polls by itself may never wait. It says where it is too: else the others would expect for ever that it will say so soon. It asks
// the system for that now and then, not with each poll.
func TestNeighbourPolls(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: -1}
	e, _ := newEngineOn(t, Options{}, func(p poller) *still { return &still{poller: p} })
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	e.Poll(nil)
	require.Equal(t, []int{here}, n.said)
	e.nearby.here++ // it was elsewhere when it said so
	e.Poll(nil)
	require.Len(t, n.said, 1)
	e.nearby.due = 0
	e.Poll(nil)
	require.Equal(t, []int{here, here}, n.said)
	require.True(t, e.doze())
	e.Poll(nil)
	require.Equal(t, []int{here, here, -1, here}, n.said, "after a rest at once")
}

// Who always finds its messages there waits for moments only, and says where it is too: all that wait for it may be its neighbours.
func TestNeighbourWaitsBriefly(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: -1}
	e, _ := newEngineOn(t, Options{Spin: time.Hour}, func(p poller) *still { return &still{poller: p} })
	e.Lock()
	defer e.Unlock()
	e.AddProgressor(n)
	for range 2 * clockPolls {
		p := &prompter{over: 1}
		require.NoError(t, e.Wait(watchdog(t), p, p))
	}
	require.Equal(t, []int{here}, n.said)
}

// Where the affinity of threads is left alone, or ranks outnumber the processors, nobody looks at that.
func TestNeighbourPollsWhereNobodyMoves(t *testing.T) {
	for _, opts := range []Options{{Stay: true}, {Crowded: true}} {
		n := &neighbour{on: -1}
		e := newEngine(t, opts)
		e.Lock()
		e.AddProgressor(n)
		e.Poll(nil)
		e.Unlock()
		require.Empty(t, n.said)
	}
}

func TestFreeProcessors(t *testing.T) {
	var allowed unix.CPUSet
	for cpu := range 4 {
		allowed.Set(cpu)
	}
	var taken btl.Processors
	taken.Add(2)
	taken.Add(7)
	taken.Add(-1)
	taken.Add(1 << 20)
	others, some := free(allowed, 1, &taken)
	require.True(t, some)
	require.True(t, others.IsSet(0) && others.IsSet(3))
	require.Equal(t, 2, others.Count())
	taken.Add(0)
	taken.Add(3)
	_, some = free(allowed, 1, &taken)
	require.False(t, some)
}

// Who may have a neighbour on its processor offers it at once.
func TestNeighboursOfferAtOnce(t *testing.T) {
	here := stays(t)
	n := &neighbour{on: here}
	e := &Engine{opts: Options{Spin: time.Hour}, nearby: neighbours{modules: []btl.Neighbourhood{n}}}
	quick := func() bool {
		e.nearby.settle(true)
		return e.quick(quickPolls, 0)
	}
	require.False(t, quick())
	n.on = here + 1
	require.True(t, quick())
	n.unsure = true
	require.False(t, quick())
}

// seen is a source whose peer was seen on a processor.
type seen int

func (s seen) Poll() bool          { return false }
func (s seen) LastOn() (int, bool) { return int(s), true }

// A thread does not move to where the peer was seen that it waits for.
func TestWhereThePeerWasSeen(t *testing.T) {
	elsewhere := stays(t) + 1
	moves, taken := besideAndFor(t, &neighbour{on: -1}, seen(elsewhere), 16*quickPolls)
	require.Equal(t, 1, moves)
	require.True(t, taken.Has(elsewhere))
}
