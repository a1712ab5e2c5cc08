//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
	"github.com/strandmp/strand/internal/test/need"
)

// Peers that read nothing leave room for those that do, whatever the kernel's
// sndbuf_policy is, and together hold less than half of the socket's buffer: of
// the default one, and of what a system allows everybody.
func TestKernelStalledPeers(t *testing.T) {
	for _, c := range []struct{ buffer, size, peers int }{{512 << 10, 100, 10}, {0, 65_536, need.Times(20, 63)}, {212_992, 5_500, 9}} {
		t.Run(fmt.Sprintf("buffer %d message %d", c.buffer, c.size), func(t *testing.T) {
			l := &loop{t: t}
			x, healthy := newNode(l, func(cfg *stack.Config) { cfg.SendBuffer, cfg.Peers = c.buffer, c.peers+1 }), newNode(l)
			require.LessOrEqual(t, c.size+4, x.MaxMessage())
			here, there := x.join(healthy)
			there.keepNot = true
			content := &btl.Frame{Payload: make([]byte, c.size), Size: c.size}
			free := x.flood(here, there, content)
			for range c.peers {
				x.stall(newNode(l, func(cfg *stack.Config) { cfg.ReceiveBuffer = 1 << 14 }), content)
			}
			buffer, queued := x.requireRoom(here)
			took := x.flood(here, there, content)
			t.Logf("%d stalled peers hold %d of %d bytes of the buffer (%d by our account); %d messages to another one in %v, before in %v",
				c.peers, queued, buffer, x.room.total, flooded, took, free)
			for _, w := range append([]*watch(nil), l.watches...) {
				w.asleep = false
				require.NoError(t, w.h.(*kernel).Close())
			}
		})
	}
}

// The account of the room is never below the kernel's, neither while peers read as fast
// as they are sent to nor when they stop. Their SCTP acknowledges much between a
// question and the next.
func TestKernelAccount(t *testing.T) {
	l := &loop{t: t}
	x := newNode(l, func(cfg *stack.Config) { cfg.SendBuffer, cfg.Peers = 212_992, 9 })
	y := newNode(l, func(cfg *stack.Config) { cfg.ReceiveBuffer = 212_992 })
	here, there := x.join(y)
	there.keepNot = true
	content := &btl.Frame{Payload: make([]byte, 5500), Size: 5500}
	most, refused := 0, 0
	here.onRoom = func() {
		for here.a.Send(1, 0, []byte("head"), content) == btl.Done {
			queued, err := x.sock.Queued()
			require.NoError(t, err)
			require.GreaterOrEqual(t, x.room.total, queued)
			most, refused = max(most, queued), 0
		}
	}
	here.onRoom()
	const awake, quiet = 500, 20 // messages, turns
	l.until("it has stopped", func() bool {
		refused++
		if there.count > awake {
			y.sleep(true)
		} else {
			refused = 0
		}
		return refused > quiet
	})
	buffer, err := x.sock.SendBuffer()
	require.NoError(t, err)
	t.Logf("%d of %d bytes at most; %d when it has stopped", most, buffer, x.room.total)
	assert.Less(t, most, buffer/2)
}

// flooded is how many messages flood sends.
const flooded = 100

// flood sends a peer messages and says how long they took.
func (n *node) flood(here, there *peer, content *btl.Frame) time.Duration {
	start, sent, before := time.Now(), 0, there.count
	n.l.until("all have come", func() bool {
		for sent < flooded && here.a.Send(1, 0, []byte("head"), content) == btl.Done {
			sent++
		}
		return there.count == before+flooded
	})
	return time.Since(start)
}

// stall joins a peer, has it sleep and sends it messages until it takes no more.
func (n *node) stall(m *node, content *btl.Frame) {
	p, _ := n.join(m)
	m.sleep(true)
	quiet := 0
	n.l.until("it is stalled", func() bool {
		if p.a.Send(1, 0, []byte("head"), content) == btl.Done {
			quiet = 0
		} else {
			quiet++
		}
		return quiet > 20
	})
}

// requireRoom checks what is promised of the room, and that the account of it is
// never below the kernel's.
func (n *node) requireRoom(healthy *peer) (buffer, queued int) {
	t := n.l.t
	n.l.until("what can be acknowledged is", func() bool { return healthy.a.Queued() == 0 })
	buffer, err := n.sock.SendBuffer()
	require.NoError(t, err)
	queued, err = n.sock.Queued()
	require.NoError(t, err)
	assert.Less(t, queued, buffer/2)
	assert.Less(t, n.room.total, buffer/2)
	assert.GreaterOrEqual(t, n.room.total, queued)
	return buffer, queued
}

// How long messages may be follows from the buffers.
func TestKernelMaxMessage(t *testing.T) {
	l := &loop{t: t}
	assert.Equal(t, tuning().MaxMessage, newNode(l).MaxMessage())
	small := newNode(l, func(c *stack.Config) { c.SendBuffer = 212_992 })
	assert.Equal(t, 5600, small.MaxMessage())
	assert.LessOrEqual(t, sctpsock.Charge(5600, 1400), 2*212_992/messageShare)
	narrow := newNode(l, func(c *stack.Config) { c.ReceiveBuffer = 212_992 })
	assert.Equal(t, 212_992/11, narrow.MaxMessage())
}

// A stream whose place is before another one's goes first, of what waits.
func TestKernelPriorities(t *testing.T) {
	l := &loop{t: t}
	x := newNode(l, func(c *stack.Config) { c.Scheduler, c.Priorities = "prio", []uint16{7, 2} })
	y := newNode(l, func(c *stack.Config) { c.ReceiveBuffer = 1 << 14 })
	here, there := x.join(y)
	here.a.Trust()
	y.sleep(true)
	const early = 10
	content := &btl.Frame{Payload: make([]byte, 4000), Size: 4000}
	for range early {
		require.Equal(t, btl.Done, here.a.Send(1, 1, []byte("head"), content))
	}
	require.Equal(t, btl.Done, here.a.Send(2, 2, []byte("head"), content))
	y.sleep(false)
	l.until("all have come", func() bool { return there.count == early+1 })
	assert.NotEqual(t, uint16(2), there.messages[early].stream, "it has overtaken those that waited")
}
