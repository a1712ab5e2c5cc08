package engine

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// own is the endpoint of a pair, as a waiter polls it.
type own struct{ p *pair }

func (o own) Poll() bool       { return o.p.Poll(false) }
func (o own) Watch() btl.Watch { return o.p.watch }

// setAside has the pair's descriptor set aside, since enough waits were for it. The
// lock is held, and has to stay so as long as it is to be aside: the background
// goroutine, when it takes the role, brings it back.
func (p *pair) setAside(t *testing.T) {
	t.Helper()
	e := p.e
	for e.holder != nil {
		e.Poll(nil) // takes the role from the background goroutine
		e.Unlock()
		runtime.Gosched()
		e.Lock()
	}
	for range asideAfter + 1 {
		require.Nil(t, e.aside.watch)
		p.exchange(t)
	}
	require.Same(t, p.watch, e.aside.watch)
	require.False(t, e.watched(p.near))
}

// exchange waits for one byte, polling the pair itself. The lock is held.
func (p *pair) exchange(t *testing.T) {
	t.Helper()
	f := &flag{}
	p.then = func() { f.done = true }
	p.send()
	require.NoError(t, p.e.Wait(watchdog(t), f, own{p}))
	p.then = nil
}

// watched reports whether the descriptor is in the poller, by adding it.
func (e *Engine) watched(fd int) bool {
	if e.poller.add(fd, 1<<62) != nil {
		return true
	}
	e.poller.remove(fd)
	return false
}

func TestADescriptorIsSetAsideWhileItsEndpointIsPolled(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p := newPair(t, e)
	e.Lock()
	defer e.Unlock()
	p.setAside(t)
	before := p.bytes
	p.exchange(t)
	require.Equal(t, before+1, p.bytes)
	require.False(t, e.watched(p.near))
}

func TestADescriptorComesBackForAnyOtherPoll(t *testing.T) {
	for name, poll := range map[string]func(e *Engine){
		"Poll":           func(e *Engine) { e.Poll(nil) },
		"of another one": func(e *Engine) { e.Poll(&counter{}) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Options{Spin: patience})
			p := newPair(t, e)
			e.Lock()
			defer e.Unlock()
			p.setAside(t)
			p.send()
			before := p.bytes
			poll(e)
			require.True(t, e.watched(p.near))
			e.Poll(nil)
			require.Equal(t, before+1, p.bytes)
			for range asideAfter + 1 {
				p.exchange(t)
			}
			require.False(t, e.watched(p.near), "and it is set aside again")
		})
	}
}

// moving is an endpoint whose descriptor is another one from some time on.
type moving struct {
	own
	to *btl.Watch
}

func (m moving) Watch() btl.Watch { return *m.to }

// What an endpoint has left comes back, though the same endpoint is polled: nobody else would look at it.
func TestADescriptorThatItsEndpointHasLeftComesBack(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p, other := newPair(t, e), newPair(t, e)
	e.Lock()
	defer e.Unlock()
	p.setAside(t)
	for _, now := range []btl.Watch{nil, other.watch} {
		source := moving{own{p}, &now}
		e.aside = aside{source: source, watch: p.watch.(*watch)}
		e.poller.remove(p.near)
		e.Poll(source)
		require.True(t, e.watched(p.near))
	}
	now := p.watch
	source := moving{own{p}, &now}
	e.aside = aside{source: source, watch: p.watch.(*watch)}
	e.poller.remove(p.near)
	e.Poll(source)
	require.False(t, e.watched(p.near))
	e.Poll(nil)
}

func TestADescriptorComesBackBeforeAWaitBlocks(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p := newPair(t, e)
	e.Lock()
	p.setAside(t)
	e.Unlock()
	e.untilBackground(t)
	e.Lock()
	require.True(t, e.watched(p.near))
	before := p.bytes
	e.Unlock()
	p.send()
	e.until(t, "the background has read it", func() bool { return p.bytes == before+1 })
}

func TestADescriptorThatIsAsideBecomesWritable(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p := newPair(t, e)
	e.Lock()
	defer e.Unlock()
	p.setAside(t)
	p.watch.Write(true)
	require.True(t, e.watched(p.near))
	e.Poll(nil)
	require.True(t, p.writable)
	for range asideAfter + 1 {
		p.exchange(t)
	}
	require.True(t, e.watched(p.near), "its being writable is not its Poll's to tell")
	p.watch.Write(false)
}

func TestStopOfADescriptorThatIsAside(t *testing.T) {
	e := newEngine(t, Options{Spin: patience})
	p := newPair(t, e)
	e.Lock()
	p.setAside(t)
	p.watch.Stop()
	require.Len(t, e.watches.free, len(e.watches.slots))
	require.Nil(t, e.aside.watch)
	var err error
	p.watch, err = e.Watch(p.near, p)
	require.NoError(t, err)
	p.send()
	before := p.bytes
	e.Poll(nil)
	require.Equal(t, before+1, p.bytes)
	e.Unlock()
}

// full is a poller of a system that has no room for one descriptor more.
type full struct {
	poller
	refuse int // so many additions
}

func newFull(p poller) *full { return &full{poller: p} }

func (f *full) add(fd int, token uint64) error {
	if f.refuse > 0 {
		f.refuse--
		return unix.ENOSPC
	}
	return f.poller.add(fd, token)
}

func TestADescriptorThatCanNotComeBackIsPolled(t *testing.T) {
	e, f := newEngineOn(t, Options{Spin: patience}, newFull)
	p := newPair(t, e)
	e.Lock()
	p.setAside(t)
	f.refuse = 1 << 30
	p.send()
	before := p.bytes
	e.Poll(nil)
	require.Equal(t, before+1, p.bytes)
	p.watch.Write(true)
	f.refuse = 1
	e.Poll(nil)
	require.NotNil(t, e.aside.watch)
	e.Unlock()
	p.send()
	e.until(t, "it is back in the poller, and writable", func() bool { return e.aside.watch == nil && p.writable && p.bytes == before+2 })
	e.Lock()
	p.watch.Write(false)
	e.Unlock()
}

// As long as there is no room for it nobody blocks: what arrives there would not be
// noticed.
func TestNobodyBlocksWithoutADescriptorThatIsAside(t *testing.T) {
	e, f := newEngineOn(t, Options{Spin: patience}, newFull)
	p := newPair(t, e)
	e.Lock()
	p.setAside(t)
	f.refuse = 1 << 30
	first := p.bytes
	e.Unlock()
	for n := range 3 {
		p.send()
		e.until(t, "the background has read it", func() bool { return p.bytes == first+n+1 })
		e.Lock()
		asked := f.refuse
		e.Unlock()
		e.until(t, "it has found nothing more", func() bool { return f.refuse < asked })
	}
	e.Lock()
	f.refuse = 0
	e.Unlock()
	e.untilBackground(t)
}

// An endpoint that waits for room as it sends is not called from within that, though the system has no place for its descriptor, which was set aside. It is
// called with the next poll, also where it is itself what is polled.
func TestADescriptorThatWaitsForRoomAndHasNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTable()
		e := start(Options{Spin: time.Hour, Stay: true}, p)
		defer e.Close()
		e.Lock()
		defer e.Unlock()
		p.sockets[0] = &socket{room: true}
		o := &port{p: p}
		var err error
		o.watch, err = e.Watch(0, portHandler{o})
		require.NoError(t, err)
		source := portSource{o}
		e.aside.source, e.aside.waits = source, asideAfter
		e.noteWait(source)
		require.NotNil(t, e.aside.watch)

		p.lack(3)
		room := false
		o.held = append(o.held, func() { room = true })
		o.watch.Write(true)
		require.False(t, room, "it was called from within")
		e.Poll(source)
		require.True(t, room)
		require.NotNil(t, e.aside.watch, "there was no place")
		e.Poll(&counter{})
		require.Nil(t, e.aside.watch)
	})
}
