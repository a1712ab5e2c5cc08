//go:build unix

package datagram

import (
	"bytes"
	"net/netip"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// loop has one socket, which the test polls.
type loop struct {
	btl.Loop
	handler  btl.Handler
	writable bool
	watched  bool
}

func (l *loop) Watch(_ int, h btl.Handler) (btl.Watch, error) {
	l.handler, l.watched = h, true
	return l, nil
}
func (l *loop) Now() int64    { return 1 }
func (l *loop) Write(on bool) { l.writable = on }
func (l *loop) Stop()         { l.watched = false }

// owner keeps what has come.
type owner struct {
	got      [][]byte
	from     netip.AddrPort
	failed   []rawio.Failure
	settled  int
	onPacket func()
}

func (o *owner) Arrived(from *rawio.Origin, b []byte) {
	o.got, o.from = append(o.got, bytes.Clone(b)), from.AddrPort()
	if o.onPacket != nil {
		o.onPacket()
	}
}
func (o *owner) Undelivered(f rawio.Failure) { o.failed = append(o.failed, f) }
func (o *owner) Settle()                     { o.settled++ }

func open(t *testing.T) (*Socket, *loop, *owner) {
	t.Helper()
	s, err := Open(netip.MustParseAddrPort("127.0.0.1:0"), 1<<20, 1<<20)
	require.NoError(t, err)
	l, o := new(loop), new(owner)
	require.NoError(t, s.Serve(l, o, NewBuffers()))
	t.Cleanup(s.Close)
	return s, l, o
}

// send has the second socket receive so many packets of a size.
func send(t *testing.T, from, to *Socket, count, size int) {
	there := rawio.NewDestination(to.Local)
	from.Packets.Reset(&there, size)
	content := make([]byte, size)
	for range count {
		require.True(t, from.Packets.Room(1))
		from.Packets.Add(content)
	}
	n, errno := from.SendBatch()
	require.Zero(t, errno)
	require.Equal(t, count, n)
}

func TestPacketsArriveOneByOneAndAreSettledOnce(t *testing.T) {
	a, _, _ := open(t)
	b, l, o := open(t)
	send(t, a, b, 40, 1400)
	for len(o.got) < 40 {
		l.handler.Poll(false)
		runtime.Gosched()
	}
	assert.Equal(t, a.Local, o.from)
	for _, p := range o.got {
		assert.Len(t, p, 1400)
	}
	assert.LessOrEqual(t, o.settled, 40)
	assert.Positive(t, o.settled)
	before := o.settled
	assert.False(t, l.handler.Poll(false), "there is nothing more")
	assert.Equal(t, before, o.settled)
}

// The owner has a packet in its hands: reading on would put another one in its place.
func TestNothingIsReadMeanwhile(t *testing.T) {
	a, _, _ := open(t)
	b, l, o := open(t)
	o.onPacket = func() { assert.False(t, b.Receive()) }
	send(t, a, b, 3, 100)
	for len(o.got) < 3 {
		l.handler.Poll(false)
	}
}

// The owner may close the socket from within: nothing is handed over behind that.
func TestClosedFromWithin(t *testing.T) {
	a, _, _ := open(t)
	b, l, o := open(t)
	o.onPacket = b.Close
	send(t, a, b, 3, 100)
	for len(o.got) == 0 {
		l.handler.Poll(false)
	}
	assert.Len(t, o.got, 1)
	assert.Zero(t, o.settled)
	assert.False(t, l.watched)
	assert.False(t, b.Receive())
	_ = b.Send([]byte("x"), new(rawio.Destination)) // and nothing is sent to whoever has the descriptor now
	_, errno := b.SendBatch()
	assert.Equal(t, syscall.EBADF, errno)
}

// A poll ends, whatever still comes.
func TestAPollIsBounded(t *testing.T) {
	a, _, _ := open(t)
	b, l, o := open(t)
	const more = 2 * receivesAtOnce * receivesPerPoll
	there := rawio.NewDestination(b.Local)
	for i := range more { // of different lengths, so that the kernel joins few
		_ = a.Send(make([]byte, 1+i), &there)
	}
	l.handler.Poll(false)
	first := len(o.got)
	assert.Positive(t, first)
	for len(o.got) < more {
		l.handler.Poll(false)
	}
	assert.Less(t, first, more)
}

// What the network says of a packet is heard, and is no end of the socket.
func TestUndelivered(t *testing.T) {
	a, l, o := open(t)
	gone, _, _ := open(t)
	there := rawio.NewDestination(gone.Local)
	gone.Close()
	_ = a.Send([]byte("quoted"), &there)
	for len(o.failed) == 0 && runtime.GOOS == "linux" {
		l.handler.Poll(false)
		runtime.Gosched()
	}
	if runtime.GOOS == "linux" {
		assert.Equal(t, syscall.ECONNREFUSED, o.failed[0].Code)
		assert.Equal(t, "quoted", string(o.failed[0].Sent))
	}
	b, l, o := open(t)
	send(t, a, b, 1, 10)
	for len(o.got) == 0 {
		l.handler.Poll(false)
	}
}

type waiter func() bool

func (w waiter) Resume() bool { return w() }

// Who found no room is asked once for each time, and may find none again.
func TestBlocked(t *testing.T) {
	s, l, _ := open(t)
	calls := 0
	var w waiter
	w = func() bool {
		if calls++; calls < 3 {
			s.Block(w)
		}
		return true
	}
	s.Block(w)
	for range 5 {
		if l.writable {
			assert.True(t, l.handler.Poll(true))
		}
	}
	assert.Equal(t, 3, calls)
	assert.False(t, l.writable)
	assert.False(t, l.handler.Poll(true))
}

// Where the loop stands still nobody says that there is room: who waits for that tries by himself.
func TestBlockedAtTheEnd(t *testing.T) {
	s, l, _ := open(t)
	calls := 0
	var w waiter
	w = func() bool {
		if calls++; calls < 2 {
			s.Block(w)
		}
		return true
	}
	s.Block(w)
	for range 3 {
		Wait(0, s)
	}
	assert.Equal(t, 2, calls)
	assert.False(t, l.writable)
}

// Sending and receiving allocate nothing.
func TestNoAllocation(t *testing.T) {
	a, _, _ := open(t)
	b, l, o := open(t)
	there := rawio.NewDestination(b.Local)
	content := make([]byte, 1000)
	o.got = nil
	quiet := &counter{}
	b.owner = quiet
	allocated := testing.AllocsPerRun(100, func() {
		want := quiet.n + 20
		a.Packets.Reset(&there, len(content))
		for range 20 {
			a.Packets.Add(content)
		}
		_, _ = a.SendBatch()
		for quiet.n < want {
			l.handler.Poll(false)
		}
	})
	assert.Zero(t, allocated)
}

type counter struct {
	owner
	n int
}

func (c *counter) Arrived(*rawio.Origin, []byte) { c.n++ }

// The room that there is goes to those that wait for it in turn, though each of them could do with all of it.
func TestRoomGoesRound(t *testing.T) {
	s, l, _ := open(t)
	var waiters [3]waiter
	var served []int
	room := 0
	for i := range waiters {
		waiters[i] = func() bool {
			if room > 0 {
				room--
				served = append(served, i)
			}
			s.Block(waiters[i])
			return true
		}
		s.Block(waiters[i])
	}
	for range 6 {
		room = 1
		require.True(t, l.writable)
		l.handler.Poll(true)
	}
	assert.Equal(t, []int{0, 1, 2, 0, 1, 2}, served)
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.goOn() }))
}
