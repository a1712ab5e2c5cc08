package userstack

import (
	"encoding/binary"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/sctp"
	"github.com/strandmp/strand/internal/sctp/chunk"
)

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
		p.ours.Trust()
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

// An attempt at whose addresses a firewall rejects what comes, or to which no router knows a way, fails as soon as that is said of all of
// them. It was waited for as if there was no answer.
func TestInitThatIsRejected(t *testing.T) {
	for _, code := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.EACCES} {
		p := call(t, addresses("127.0.0.1", "127.0.0.3"), addresses("127.0.0.2", "127.0.0.4"))
		sent := chunk.AppendHeader(nil, chunk.Header{Source: stack.InnerPort, Destination: stack.InnerPort})
		sent = binary.BigEndian.AppendUint32(append(sent, 1, 0, 0, 20), p.ours.p.Tag()) // the INIT
		for i, so := range p.a.sockets {
			so.Undelivered(rawio.Failure{To: p.b.sockets[i].Local, Code: syscall.EMSGSIZE, Sent: append(sent, 0, 0, 0, 0)})
			require.NoError(t, p.here.down)
			so.Undelivered(rawio.Failure{To: p.b.sockets[i].Local, Code: code, Sent: append(sent, 0, 0, 0, 0)})
		}
		require.Equal(t, code, p.here.down)
	}
}

// So does one whose INITs the system itself refuses, for want of a route or by a rule of its own firewall. That it has no room passes.
func TestInitThatTheSystemRefuses(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENETUNREACH, syscall.ENOBUFS} {
		p := call(t, addresses("127.0.0.1", "127.0.0.3"), addresses("127.0.0.2", "127.0.0.4"))
		p.ours.Abort()
		var r stack.Route
		for i, so := range p.a.sockets {
			so.sends = func() (int, syscall.Errno) { return 0, errno }
			r.Pairs = append(r.Pairs, stack.Pair{Local: so.address, Remote: p.b.sockets[i].Local, Nearby: true})
		}
		refused := new(user)
		_, err := p.a.Associate(r, refused)
		require.NoError(t, err)
		require.NoError(t, refused.down, "no call from within")
		ended := p.until(7*time.Second, func() bool { return refused.down != nil })
		require.Equal(t, errno != syscall.ENOBUFS, ended)
		if ended {
			require.Equal(t, errno, refused.down)
		}
	}
}
