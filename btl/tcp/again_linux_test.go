package tcp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// A hasty loop lets time pass sooner, and knows what is watched.
type hasty struct {
	btl.Loop
	watched map[int]*hastyWatch
	made    int
}

type hastyWatch struct {
	btl.Watch
	l  *hasty
	fd int
}

func (l *hasty) After(d time.Duration, f func()) btl.Timer { return l.Loop.After(d/100, f) }

func (l *hasty) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	w, err := l.Loop.Watch(fd, h)
	if err != nil {
		return nil, err
	}
	l.made++
	l.watched[fd] = &hastyWatch{w, l, fd}
	return l.watched[fd], nil
}

func (w *hastyWatch) Stop() {
	delete(w.l.watched, w.fd)
	w.Watch.Stop()
}

// fullQueue listens with a queue that is full: the system drops what comes.
func fullQueue(t *testing.T) (fd int) {
	fd, err := rawio.Listen(netip.MustParseAddrPort("127.0.0.1:0"), 0)
	require.NoError(t, err)
	t.Cleanup(func() { rawio.Close(fd) })
	first, err := net.Dial("tcp", rawio.LocalAddr(fd).String())
	require.NoError(t, err)
	t.Cleanup(func() { first.Close() })
	return fd
}

// Where packets are dropped a firewall may be the cause.
func TestNoConnection(t *testing.T) {
	a, b := newNode(t, 0, 2, set(pConnectRetries, "1"), set(pConnectTimeout, "30ms")), newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, rawio.LocalAddr(fullQueue(t)).Port()))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the end", func() bool { return x.downs == 1 })
	require.ErrorContains(t, x.down, "connecting: no answer in 30ms")
	require.ErrorContains(t, x.down, pPortMin)
	require.ErrorContains(t, x.down, "if rank 1 is only slow, raise "+pConnectTimeout)
}

// An attempt whose first packet is lost does not wait until the system sends it again: another socket
// begins anew, and none is left over.
func TestLostAttemptIsBegunAnew(t *testing.T) {
	fd := fullQueue(t)
	a, b := newNode(t, 0, 2, set(pConnectTimeout, "1h"), set(pHandshakeTimeout, "1h")), newNode(t, 1, 2)
	h := &hasty{Loop: a.engine, watched: make(map[int]*hastyWatch)}
	x := a.reachAddress(1, unreachable(b, rawio.LocalAddr(fd).Port()))
	a.do(func() {
		a.clock.Loop = h
		x.ep.Send(frame("h"), 0)
	})
	a.until("more sockets", func() bool { return h.made >= 3 })
	a.do(func() {
		require.Len(t, h.watched, 1)
		require.Equal(t, wireup.Connecting, x.ep.At())
	})
	taken, _, err := rawio.Accept(fd)
	require.NoError(t, err)
	rawio.Close(taken)
	a.until("the handshake", func() bool { return x.ep.At() == wireup.ConnectAck })
	a.do(func() {
		require.Len(t, h.watched, 1)
		made := h.made
		_ = x.ep.Close()
		require.Empty(t, h.watched)
		require.Equal(t, made, h.made)
	})
}
