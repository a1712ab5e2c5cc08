package sctp

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
)

// A thief takes the first packets that have something of the end of an association, and each of
// its aborts.
type thief struct {
	mu     sync.Mutex
	active bool
	takes  int
}

func (f *thief) pass(packet []byte) bool {
	const head, data, abort, iData = 12, 0, 6, 64
	f.mu.Lock()
	defer f.mu.Unlock()
	switch kind := packet[head]; {
	case !f.active:
		return true
	case kind == data || kind == iData:
		f.takes--
		return f.takes < 0
	default:
		return kind != abort
	}
}

func (f *thief) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active = true
}

// robbed joins two nodes, the second of which will lose so many packets that it sends.
func robbed(t *testing.T, packets int) (a, b *node) {
	a, b = newNode(t, 0), newNode(t, 1)
	join(t, a, b)
	await(t, "word that it was let in", func() bool { return !b.ep.(*endpoint).waits }, a, b)
	f := &thief{takes: packets}
	b.stack().Filter(f.pass)
	f.begin()
	return a, b
}

// Packets that are lost while a module closes are sent again. The peer gets the last frame and the
// goodbye, and need not find out by itself that nobody is there.
func TestLastPacketsAreLost(t *testing.T) {
	leak.Check(t)
	a, b := robbed(t, 3)
	require.Equal(t, btl.Done, b.ep.Send(frame("the last"), 0))
	closed := make(chan error, 1)
	go func() { closed <- b.mod.Close() }()
	await(t, "the goodbye", func() bool { return len(a.downs) > 0 }, a)
	require.NoError(t, <-closed)
	require.ErrorIs(t, a.downs[0], btl.ErrPeerClosed)
	require.Equal(t, []string{"the last"}, a.frames)
}

// A long frame is not copied as it is sent. Who closes the endpoint has its memory back at once all the same, and what is lost is
// sent again as it was.
func TestFramesThatAreLentWhileAnEndpointCloses(t *testing.T) {
	leak.Check(t)
	a, b := robbed(t, 3)
	text := strings.Repeat("long", 15<<10)
	long := frame(text)
	require.Equal(t, btl.Taken, b.ep.Send(long, 0))
	require.NoError(t, b.ep.Close())
	clear(long.Payload)
	await(t, "the goodbye", func() bool { return len(a.downs) > 0 }, a, b)
	require.ErrorIs(t, a.downs[0], btl.ErrPeerClosed)
	require.Equal(t, []string{text}, a.frames)
}
