package tcp

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Within a host the peer was last on the processor on which it has sent.
func TestPeerWasLastOn(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	p := a.reach(b)
	p.connected()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &allowed)) }()
	frames := 0
	for cpu := range len(allowed) * 64 {
		if !allowed.IsSet(cpu) {
			continue
		}
		var one unix.CPUSet
		one.Set(cpu)
		require.NoError(t, unix.SchedSetaffinity(0, &one))
		frames++
		p.send(frame("h", "on that one"))
		b.until("the frame", func() bool { return len(b.accepted) == 1 && len(b.accepted[0].frames) == frames })
		b.do(func() {
			processor, known := b.accepted[0].ep.LastOn()
			require.True(t, known)
			require.Equal(t, cpu, processor)
		})
	}
	b.do(func() {
		b.accepted[0].ep.nearby = false
		_, known := b.accepted[0].ep.LastOn()
		require.False(t, known, "elsewhere it is the processor that the card has interrupted")
	})
}
