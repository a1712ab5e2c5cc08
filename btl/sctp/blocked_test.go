package sctp

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// blocked is a stack with an association in the way that never ends.
type blocked struct {
	stack.Stack
	asked int
}

func (b *blocked) Associate(stack.Route, stack.Handler) (stack.Association, error) {
	b.asked++
	return nil, syscall.EISCONN
}

// An attempt that finds another association in the way waits for its end as long as an
// attempt may take, not for ever.
func TestAssociationInTheWay(t *testing.T) {
	a, b := newNode(t, 0, with(pConnectTimeout, "100ms"), with(pConnectRetries, "2")), newNode(t, 1)
	a.do(func() {
		paths, err := a.mod.Reach(btl.Peer{Rank: 1, Address: b.mod.Address()})
		require.NoError(t, err)
		in := &blocked{Stack: a.mod.stack}
		a.mod.stack = in
		a.ep, err = a.mod.Connect(btl.Peer{Rank: 1}, paths[0], a)
		require.NoError(t, err)
		require.Equal(t, btl.Busy, a.ep.Send(frame("first"), 0))
		await(t, "the failure", func() bool { return len(a.downs) > 0 }, a)
		require.Greater(t, in.asked, 2, "it was looked for again")
	})
	require.ErrorIs(t, a.downs[0], syscall.EISCONN)
	require.ErrorContains(t, a.downs[0], "(2 attempts in ")
	require.Len(t, a.logged("not connected"), 1)
	require.Len(t, a.logged("connecting 127"), 2)
}
