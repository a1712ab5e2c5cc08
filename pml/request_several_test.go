package pml

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/match"
)

// pendingRequests starts n operations of a layer that has nothing but them.
func pendingRequests(n int) (*PML, []Request) {
	p := &PML{engine: new(engine.Engine)}
	p.instant.pml, p.instant.done = p, true
	reqs := make([]Request, n)
	for i := range reqs {
		reqs[i] = requestOf(p.newOperation())
	}
	return p, reqs
}

// watched counts the requests that some set watches.
func watched(reqs []Request) (n int) {
	for _, r := range reqs {
		n += len(r.op.sets)
	}
	return n
}

// A wait for all requests watches one of them whenever it parks, however many there
// are, and goes through them once, in whatever order they complete.
func TestParkingForAllWatchesOne(t *testing.T) {
	const n = 1000
	for _, step := range []int{1, 7, n - 1} { // coprime to n
		p, reqs := pendingRequests(n)
		s, w := (*allOver)(p.newWaitSet(reqs)), new(engine.Waiter)
		looked := 0
		for i := range n {
			require.False(t, s.Done())
			looked = s.over
			s.Park(w)
			require.Equal(t, 1, watched(reqs))
			s.Park(nil)
			require.Zero(t, watched(reqs))
			reqs[i*step%n].op.complete(nil)
			require.GreaterOrEqual(t, s.over, looked, "it never begins anew")
		}
		require.True(t, s.Done())
	}
}

// A wait for one of many watches all of them from its beginning to its end: parking
// adds nothing.
func TestParkingForOneWatchesNoMore(t *testing.T) {
	const n = 1000
	p, reqs := pendingRequests(n)
	s, w := p.newWaitSet(reqs), new(engine.Waiter)
	for _, r := range reqs {
		s.watch(r)
	}
	for range 3 {
		(*oneOver)(s).Park(w)
		require.Equal(t, n, watched(reqs))
		require.False(t, (*oneOver)(s).Done())
		(*oneOver)(s).Park(nil)
		require.Equal(t, n, watched(reqs))
	}
	reqs[n/2].op.complete(nil)
	require.True(t, (*oneOver)(s).Done())
	for _, r := range reqs {
		s.unwatch(r)
	}
	require.Zero(t, watched(reqs))
}

// A request that ends while others wait for it takes their sets along: the operation's
// next life knows nothing of them.
func TestEndedRequestForgetsWhoWatched(t *testing.T) {
	p, reqs := pendingRequests(2)
	s := p.newWaitSet(reqs)
	s.watch(reqs[0])
	s.watch(reqs[1])
	reqs[0].op.complete(nil)
	_, err := reqs[0].finish()
	require.NoError(t, err)
	again := p.newOperation()
	require.Same(t, reqs[0].op, again)
	require.Empty(t, again.sets)
	s.unwatch(reqs[0])
	s.unwatch(reqs[1])
	require.Zero(t, watched(reqs))
}

// A request that another goroutine ends while a wait for all blocks at it may be another operation's by the time that the wait
// ends with its context: nobody waits for that one less than before.
func TestWaitForAllLeavesTheNextLifeAlone(t *testing.T) {
	p, reqs := pendingRequests(1)
	s := p.newWaitSet(reqs)
	require.False(t, (*allOver)(s).Done())
	op := reqs[0].op
	require.Equal(t, 1, op.blocked)
	op.complete(nil)
	_, err := reqs[0].finish()
	require.NoError(t, err)
	again := p.newOperation()
	require.Same(t, op, again)
	p.freeWaitSet(s)
	require.Zero(t, again.blocked)

	s = p.newWaitSet([]Request{requestOf(again)})
	require.False(t, (*allOver)(s).Done())
	p.freeWaitSet(s)
	require.Zero(t, again.blocked, "its own end counts")
}

// progressor is one that a function makes.
type progressor func() bool

func (f progressor) Progress() bool { return f() }

// Who waits for some of many requests while they complete, a few with each poll, has none of them watched.
func TestWaitingForSomeOfManyWatchesNoneInAStream(t *testing.T) {
	p, reqs := pendingRequests(1000)
	e, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	defer e.Close()
	p.engine = e
	operations, done := make([]*operation, len(reqs)), 0
	for i, r := range reqs {
		r.op.recv.Source = match.Any
		operations[i] = r.op
	}
	e.Lock()
	e.AddProgressor(progressor(func() bool {
		for range min(8, len(reqs)-done) {
			operations[done].complete(nil)
			done++
		}
		return true
	}))
	e.Unlock()
	var out []Outcome
	for len(out) < len(reqs) {
		out, err = WaitSome(t.Context(), reqs, out)
		require.NoError(t, err)
	}
	for i, op := range operations {
		require.Zero(t, cap(op.sets), "%d was watched", i)
	}
}
