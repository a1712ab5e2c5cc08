package userstack

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btltest"
)

// A user counts what has come.
type user struct {
	stack.Handler
	ups, messages int
	down          error
}

func (u *user) Up()                                            { u.ups++ }
func (u *user) Receive(_ uint16, _ uint32, _ []byte, end bool) { u.messages++ }
func (u *user) Writable()                                      {}
func (u *user) PathChanged(btl.PathState)                      {}
func (u *user) Down(err error)                                 { u.down = err }

// A socket that has no room, and does not say when it has, has an association wait for a second: what is for it is lost then, and what
// is for others goes out.
func TestASocketThatIsBlockedForEver(t *testing.T) {
	loop, there := new(btltest.Loop), new(user)
	open := func(address string) *Stack {
		s, err := Open(stack.Config{Loop: loop, Local: []netip.Addr{netip.MustParseAddr(address)}, Warn: func(netip.AddrPort, error) {},
			Accept: func(stack.Association) stack.Handler { return there }, Room: func(netip.AddrPort) bool { return true },
			Tuning: stack.Tuning{Streams: 2, MaxMessage: 1 << 16, Outstanding: 1 << 20, MTU: 1400, LoopbackMTU: 1400}})
		require.NoError(t, err)
		return s
	}
	a, b := open("127.0.0.1"), open("127.0.0.2")
	defer func() { _ = a.Close() }()
	defer func() { _ = b.Close() }()
	here := new(user)
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), b.Port())
	opened, err := a.Associate(stack.Route{Pairs: []stack.Pair{{Local: netip.MustParseAddr("127.0.0.1"), Remote: to, Nearby: true}}}, here)
	require.NoError(t, err)
	until := func(most time.Duration, so func() bool) bool {
		for end := loop.Now() + int64(most); !so() && loop.Now() < end; loop.Advance(time.Millisecond) {
			for loop.Poll() {
			}
		}
		return so()
	}
	require.True(t, until(time.Second, func() bool { return here.ups == 1 }))
	ours := opened.(*association)
	ours.blocked, ours.since = true, loop.Now()
	require.Equal(t, btl.Done, ours.Send(1, 7, []byte("head"), nil))
	require.False(t, until(900*time.Millisecond, func() bool { return there.messages == 1 }))
	assert.True(t, until(200*time.Millisecond, func() bool { return there.messages == 1 }))
}
