package userstack

import (
	"io"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/sctp"
	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A user counts what has come.
type user struct {
	stack.Handler
	ups, messages, writables int
	down                     error
}

func (u *user) Up()                                            { u.ups++ }
func (u *user) Receive(_ uint16, _ uint32, _ []byte, end bool) { u.messages++ }
func (u *user) Writable()                                      { u.writables++ }
func (u *user) PathChanged(btl.PathState)                      {}
func (u *user) Down(err error)                                 { u.down = err }

// A pair is two stacks on a loop, and an association between them.
type pair struct {
	loop        *clock
	a, b        *Stack
	here, there *user
	ours        *association
}

// A clock is a loop whose time can be put on, as while the process is stopped.
type clock struct {
	btltest.Loop
	by int64
}

func (c *clock) Now() int64 { return c.Loop.Now() + c.by }

// newPair opens stacks at addresses of their own, and joins them.
func newPair(t *testing.T, as, bs []netip.Addr) *pair {
	p := call(t, as, bs)
	require.True(t, p.until(time.Second, func() bool { return p.here.ups == 1 }))
	return p
}

// call is newPair, of which nothing has come yet. Associations may be closed after so long without data, by either stack.
func call(t *testing.T, as, bs []netip.Addr, autoclose ...time.Duration) *pair {
	p := &pair{loop: new(clock), here: new(user), there: new(user)}
	open := func(addresses []netip.Addr, autoclose time.Duration) *Stack {
		s, err := Open(stack.Config{Loop: p.loop, Local: addresses, Warn: func(netip.AddrPort, error) {},
			Accept: func(stack.Association) stack.Handler { return p.there }, Room: func(netip.AddrPort) bool { return true },
			Tuning: stack.Tuning{Streams: 2, MaxMessage: 1 << 16, Outstanding: 1 << 20, MTU: 1400, LoopbackMTU: 1400, ConnectTimeout: 8 * time.Second, Autoclose: autoclose}})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	autoclose = append(autoclose, 0, 0)
	p.a, p.b = open(as, autoclose[0]), open(bs, autoclose[1])
	var r stack.Route
	for i, b := range bs {
		r.Pairs = append(r.Pairs, stack.Pair{Local: as[i], Remote: netip.AddrPortFrom(b, p.b.Port()), Nearby: true})
	}
	opened, err := p.a.Associate(r, p.here)
	require.NoError(t, err)
	p.ours = opened.(*association)
	return p
}

// until lets time pass, so much at most, until something is so.
func (p *pair) until(most time.Duration, so func() bool) bool {
	for end := p.loop.Now() + int64(most); !so() && p.loop.Now() < end; p.loop.Advance(time.Millisecond) {
		for p.loop.Poll() {
		}
	}
	return so()
}

func addresses(all ...string) (parsed []netip.Addr) {
	for _, a := range all {
		parsed = append(parsed, netip.MustParseAddr(a))
	}
	return parsed
}

// A socket that has no room, and does not say when it has, has an association wait for a second: what is for it is lost then, and what
// is for others goes out.
func TestASocketThatIsBlockedForEver(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.ours.blocked, p.ours.since = true, p.loop.Now()
	require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("head"), nil))
	require.False(t, p.until(900*time.Millisecond, func() bool { return p.there.messages == 1 }))
	assert.True(t, p.until(200*time.Millisecond, func() bool { return p.there.messages == 1 }))
}

// While the transport closes the loop stands still, and does not say that a socket has room again. What waits for that goes out all the same.
func TestASocketThatIsBlockedAsAllCloses(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.ours.block(p.a.sockets[0])
	require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("the last"), nil))
	require.Zero(t, p.there.messages)
	p.a.Linger()
	p.b.Linger()
	require.Equal(t, 1, p.there.messages)
}

// Who waits for room when all ends tells its peer all the same that it does.
func TestEndOfWhoIsBlocked(t *testing.T) {
	for _, released := range []bool{false, true} {
		p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
		p.ours.block(p.a.sockets[0])
		if released {
			p.ours.Release()
		}
		require.NoError(t, p.a.Close())
		require.True(t, p.until(time.Second, func() bool { return p.there.down != nil }))
		require.ErrorIs(t, p.there.down, syscall.ECONNRESET)
	}
}

// A process that was stopped while it called a peer takes the answer that has come meanwhile.
func TestStoppedWhileCalling(t *testing.T) {
	p := call(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.loop.by = int64(time.Minute)
	p.loop.Advance(8 * time.Second)
	require.NoError(t, p.here.down)
	require.True(t, p.until(100*time.Millisecond, func() bool { return p.here.ups == 1 }))

	p = call(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.loop.by = int64(time.Minute)
	p.loop.Advance(9 * time.Second)
	require.ErrorIs(t, p.here.down, syscall.ETIMEDOUT)
}

// What is sent to an association that is being shut down, by either side, for want of data, waits for the next one: it is no failure.
func TestSentAsAnIdleAssociationCloses(t *testing.T) {
	for state, autoclose := range map[sctp.State][]time.Duration{
		sctp.ShutdownSent: {time.Minute, time.Hour}, sctp.ShutdownAckSent: {time.Hour, time.Minute},
	} {
		p := call(t, addresses("127.0.0.1"), addresses("127.0.0.2"), autoclose...)
		require.True(t, p.until(time.Second, func() bool { return p.here.ups == 1 }))
		p.loop.Advance(time.Minute + time.Second)
		for p.ours.p.State() != state {
			require.True(t, p.loop.Poll())
		}
		require.Equal(t, btl.Busy, p.ours.Send(1, 7, []byte("late"), nil))
		require.True(t, p.until(time.Second, func() bool { return p.here.down != nil }))
		require.Equal(t, io.EOF, p.here.down)
		require.Zero(t, p.here.writables, "it ends")
	}
}

// Of two addresses of a peer's one refuses what comes, as a firewall does, or the other process that has it now. The association goes on over the
// other one. When that refuses too the peer has gone.
func TestOneAddressRefuses(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1", "127.0.0.3"), addresses("127.0.0.2", "127.0.0.4"))
	up := func(i int) func() bool { return func() bool { return p.ours.p.Path(i).State == sctp.Active } }
	require.True(t, p.until(time.Second, up(1)))
	for i := range 2 {
		refused := p.b.sockets[i].Local
		sent := chunk.AppendHeader(nil, chunk.Header{Source: stack.InnerPort, Destination: stack.InnerPort, Tag: p.ours.p.PeerTag()})
		p.a.sockets[i].Undelivered(rawio.Failure{To: refused, Code: syscall.ECONNREFUSED, Sent: append(sent, make([]byte, 16)...)})
		require.NoError(t, p.here.down)
		require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("head"), nil))
		require.True(t, p.until(100*time.Millisecond, func() bool { return p.there.messages == i+1 }))
		require.True(t, p.until(time.Second, up(i)), "that it is there again is found out")
	}
	for _, so := range p.b.sockets {
		so.Close()
	}
	require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("head"), nil))
	require.True(t, p.until(time.Second, func() bool { return p.here.down != nil }))
	require.Equal(t, syscall.ECONNREFUSED, p.here.down)
}
