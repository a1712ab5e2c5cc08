package userstack

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// A socket, or a queue behind it, that has no room for a packet which is to find out whether longer ones get through says nothing of the path.
func TestASoundingThatFindsNoRoom(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.ENOBUFS} {
		t.Run(errno.Error(), func(t *testing.T) {
			p := call(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
			p.ours.Abort()
			const base, most = 1200, 1400
			so, refused, sounds := p.a.sockets[0], 0, false
			p.a.Filter(func(packet []byte) bool {
				sounds = len(packet) > base
				return true
			})
			send := so.sends
			so.sends = func() (int, syscall.Errno) {
				if sounds && so.Packets.Len() == 1 && refused < 10 {
					refused++
					return 0, errno
				}
				return send()
			}
			far := new(user)
			opened, err := p.a.Associate(stack.Route{Pairs: []stack.Pair{{Local: so.address, Remote: netip.AddrPortFrom(p.b.sockets[0].address, p.b.Port())}}}, far)
			require.NoError(t, err)
			a := opened.(*association)
			require.True(t, p.until(time.Second, func() bool { return far.ups == 1 }))
			p.until(time.Minute, func() bool { return a.p.Path(0).Packet == most })
			require.Equal(t, most, a.p.Path(0).Packet)
			require.Equal(t, 10, refused)
		})
	}
}
