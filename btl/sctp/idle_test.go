package sctp

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/wireup"
)

// rest tells both ends of a connection, as the kernel's stack would, that it was shut
// down for being idle.
func rest(nodes ...*node) {
	for _, n := range nodes {
		n.mod.cfg.tuning.Autoclose = time.Second
		ep := n.ep.(*endpoint)
		n.do(func() {
			ep.link.Abort()
			ep.ended(io.EOF)
		})
	}
}

// The kernel counts whole seconds. Both stacks have the same time: of less, nothing would be left once two processes have proved
// themselves, or once a frame is sent for whose answer the peer computes.
func TestIdleForWholeSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{"0s": 0, "1ns": time.Second, "3ms": time.Second, "1s": time.Second, "1001ms": 2 * time.Second} {
		n := newNode(t, 0, with(pAutoclose, text))
		require.Equal(t, want, n.mod.cfg.tuning.Autoclose, text)
	}
}

// An idle association is no failure at either end, and comes back with the next
// frame of whoever has made it.
func TestAnIdleAssociationComesBack(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0), newNode(t, 1)
	join(t, a, b)
	rest(a, b)
	require.Empty(t, a.downs)
	require.Empty(t, b.downs)
	a.send("again", 0, b)
	await(t, "a frame", func() bool { return len(b.frames) > 0 }, a, b)
	require.Equal(t, []string{"again"}, b.frames)
	b.send("answer", 0, a)
	await(t, "an answer", func() bool { return len(a.frames) > 0 }, a, b)
	require.Equal(t, []int{1, 1}, []int{a.ups, b.ups})
}

// The end that was connected to knows no way to the peer. Its host does, and is told
// when it wants to send.
func TestAnIdleAssociationOfThePeers(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0), newNode(t, 1)
	join(t, a, b)
	rest(a, b)
	require.NotEmpty(t, b.ep.Desc())
	b.do(func() {
		require.Equal(t, btl.Broken, b.ep.Send(frame("lost"), 0))
		require.Empty(t, b.downs, "not within Send")
	})
	await(t, "the failure", func() bool { return len(b.downs) > 0 }, b)
	require.ErrorIs(t, b.downs[0], wireup.ErrIdle)
	join(t, b, a)
	b.send("anew", 0, a)
	await(t, "a frame", func() bool { return len(a.frames) > 0 }, a, b)
}
