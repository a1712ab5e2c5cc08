package userstack

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btltest"
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
			Accept: func(a stack.Association) stack.Handler {
				a.Trust()
				return p.there
			}, Room: func(netip.AddrPort) bool { return true },
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
