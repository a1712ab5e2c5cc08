package tcp

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

var (
	anyPort     = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	anyWeight   = regexp.MustCompile(`weight [\d.e+]+`)
	anyDuration = regexp.MustCompile(`in \d+\.\d s`)
	inFlight    = regexp.MustCompile(`, \d+ bytes in flight`)
)

// transitions returns the lines about connections so far, without what differs
// from run to run.
func (n *node) transitions() []string {
	n.logMu.Lock()
	defer n.logMu.Unlock()
	var lines []string
	for _, l := range n.logs {
		if !strings.Contains(l, "listening") {
			l = anyPort.ReplaceAllString(l, "HERE:1")
			l = anyWeight.ReplaceAllString(l, "weight 1")
			l = inFlight.ReplaceAllString(l, "")
			lines = append(lines, anyDuration.ReplaceAllString(l, "in 1.0 s"))
		}
	}
	return lines
}

const (
	loWay = "127.0.0.1 (lo) → HERE:1"
	loWhy = " (weight 1, loopback)"
)

// A connection's life: made, broken off, made anew with a higher epoch, ended in
// order. Each transition is one line on each side.
func TestTransitions(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	x := a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
	y := b.accepted[0]
	a.do(func() { _ = syscall.Shutdown(x.ep.conn.FD(), syscall.SHUT_RDWR) })
	a.until("the break", func() bool { return x.downs == 1 })
	b.until("the break", func() bool { return y.downs == 1 })
	a.do(func() { _ = x.ep.Close() })
	b.do(func() { _ = y.ep.Close() })
	x = a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 2 && b.accepted[1].ups == 1 })
	a.do(func() { _ = x.ep.Close() })
	b.until("the end", func() bool { return b.accepted[1].downs == 1 })

	broken := "receiving: the peer's end of the connection has closed without a goodbye"
	require.Equal(t, []string{
		"1 tcp: rank 0 → rank 1: connecting " + loWay + loWhy + ", epoch 1, attempt 1 of 3",
		"2 tcp: rank 0 → rank 1: connect_ack HERE:1 → HERE:1, epoch 1",
		"1 tcp: rank 0 → rank 1: connected " + loWay + ", epoch 1",
		"1 tcp: rank 0 → rank 1: failed " + loWay + ", epoch 1, " + broken + " (rank 1 has probably ended: see its output)",
		"1 tcp: rank 0 → rank 1: connecting " + loWay + loWhy + ", epoch 2, attempt 1 of 3",
		"2 tcp: rank 0 → rank 1: connect_ack HERE:1 → HERE:1, epoch 2",
		"1 tcp: rank 0 → rank 1: connected " + loWay + ", epoch 2",
		"1 tcp: rank 0 → rank 1: closed " + loWay + ", epoch 2, by this side",
	}, a.transitions())
	require.Equal(t, []string{
		"2 tcp: rank 1 ← rank 0: connect_ack HERE:1 ← HERE:1, epoch 1, it has proved itself",
		"1 tcp: rank 1 ← rank 0: connected HERE:1 (lo) ← HERE:1, epoch 1",
		"1 tcp: rank 1 ← rank 0: failed HERE:1 (lo) ← HERE:1, epoch 1, " + broken + " (rank 0 has probably ended: see its output)",
		"2 tcp: rank 1 ← rank 0: connect_ack HERE:1 ← HERE:1, epoch 2, it has proved itself",
		"1 tcp: rank 1 ← rank 0: connected HERE:1 (lo) ← HERE:1, epoch 2",
		"1 tcp: rank 1 ← rank 0: closed HERE:1 (lo) ← HERE:1, epoch 2, by the peer, in order",
	}, b.transitions())
}

// Attempts that fail, each with its number, and what is left to say in the end.
func TestTransitionsOfFailedAttempts(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, refusingPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the end", func() bool { return x.downs == 1 })
	connecting := "1 tcp: rank 0 → rank 1: connecting " + loWay + loWhy
	lines := a.transitions()
	last := lines[len(lines)-1]
	require.Equal(t, []string{
		connecting + ", epoch 1, attempt 1 of 3",
		"1 tcp: rank 0 → rank 1: not connected " + loWay + ", epoch 1, attempt 1 of 3: connect: connection refused; next in 50ms",
		connecting + ", epoch 2, attempt 2 of 3",
		"1 tcp: rank 0 → rank 1: not connected " + loWay + ", epoch 2, attempt 2 of 3: connect: connection refused; next in 100ms",
		connecting + ", epoch 3, attempt 3 of 3",
	}, lines[:len(lines)-1])
	require.True(t, strings.HasPrefix(last,
		"1 tcp: rank 0 → rank 1: failed "+loWay+", epoch 3, connecting: connect: connection refused (3 attempts in 1.0 s) (nothing listens on port "), last)
}

// A peer that is refused, and a path of a number that is worth telling.
func TestTransitionsOfRefused(t *testing.T) {
	a, b := newNode(t, 0, 2, set(pLinks, "2")), newNode(t, 1, 2)
	b.refuse = errors.New("go away")
	var x *peer
	a.do(func() {
		who := btl.Peer{Rank: 1, Host: "host1", Address: b.mod.Address()}
		paths, err := a.mod.Reach(who)
		require.NoError(t, err)
		x = a.newPeer(1)
		ep, err := a.mod.Connect(who, paths[1], x)
		require.NoError(t, err)
		x.ep = ep.(*endpoint)
		x.ep.Send(frame("h"), 0)
	})
	a.until("the end", func() bool { return x.downs == 1 })
	lines := a.transitions()
	require.Equal(t, "1 tcp: rank 0 → rank 1 path 1: failed "+loWay+", epoch 1, handshake: refused by the peer: not welcome: go away", lines[len(lines)-1])
	lines = b.transitions()
	require.Equal(t, "1 tcp: rank 1 ← rank 0 path 1: refused HERE:1 ← HERE:1, epoch 1, not welcome: go away", lines[len(lines)-1])
}

// Both at once: the lower rank keeps the other's connection waiting.
func TestTransitionsOfBothAtOnce(t *testing.T) {
	a := newNode(t, 0, 2, set(pHandshakeTimeout, "1h"))
	b := newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, silentPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the handshake", func() bool { return x.ep.At() == wireup.ConnectAck })
	b.reach(a).connected()
	a.until("the connection", func() bool { return x.ups == 1 })
	lines := a.transitions()
	require.Equal(t, []string{
		"2 tcp: rank 0 ← rank 1: connect_ack HERE:1 ← HERE:1, epoch 1, it has proved itself",
		"2 tcp: rank 0 ← rank 1: connect_ack HERE:1 ← HERE:1, epoch 1, waits for our own attempt to end",
		"1 tcp: rank 0 ← rank 1: connected HERE:1 (lo) ← HERE:1, epoch 1",
	}, lines[len(lines)-3:])
}
