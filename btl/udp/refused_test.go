package udp

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
)

// An attempt to which the system knows no way, or that a rule of its own firewall forbids, fails at once, as over TCP. It was waited for as if there was no answer. That
// the system has no room passes.
func TestAttemptThatTheSystemRefuses(t *testing.T) {
	for errno, passes := range map[syscall.Errno]bool{syscall.EPERM: false, syscall.ENETUNREACH: false, syscall.ENOBUFS: true, syscall.EAGAIN: true} {
		p := &pair{t: t, clock: new(btltest.Loop)}
		for rank := range p.hosts {
			p.hosts[rank] = btltest.NewHost(t, rank, 2, Component{}, with(prefixOfAll+"if_include", "lo"))
			p.hosts[rank].Clock = p.clock
		}
		m := p.hosts[0].Open().(*module)
		for _, so := range m.sockets {
			so.claims = func(int, syscall.Errno) (int, syscall.Errno) { return 0, errno }
		}
		peer := p.hosts[1].Peer(p.hosts[1].Open())
		paths, err := m.Reach(peer)
		require.NoError(t, err)
		recv := p.hosts[0].NewReceiver(1)
		ep, err := m.Connect(peer, paths[0], recv)
		require.NoError(t, err)
		require.Equal(t, btl.Busy, ep.Send(frame("h", ""), 0))
		p.pass(time.Second)
		if passes {
			assert.Equal(t, 1, recv.Ups, "%v", errno)
		} else {
			assert.Equal(t, 1, recv.Downs, "%v", errno)
			require.ErrorIs(t, recv.Err, errno)
		}
		require.NoError(t, ep.Close())
		p.pass(time.Second)
	}
}
