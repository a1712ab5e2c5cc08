package userstack

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// A socket that has no room, and does not say when it has, has an association wait for a second: what is for it is lost then, and what
// is for others goes out.
func TestASocketThatIsBlockedForEver(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.ours.blocked, p.ours.since = true, p.loop.Now()
	require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("head"), nil))
	require.False(t, p.until(900*time.Millisecond, func() bool { return p.there.messages == 1 }))
	assert.True(t, p.until(200*time.Millisecond, func() bool { return p.there.messages == 1 }))
}

// While the transport closes the loop stands still, and does not say that a socket has room again. What waits for that goes out all the same.
func TestASocketThatIsBlockedAsAllCloses(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	p.ours.block(p.a.sockets[0])
	require.Equal(t, btl.Done, p.ours.Send(1, 7, []byte("the last"), nil))
	require.Zero(t, p.there.messages)
	p.a.Linger()
	p.b.Linger()
	require.Equal(t, 1, p.there.messages)
}

// Who waits for room when all ends tells its peer all the same that it does.
func TestEndOfWhoIsBlocked(t *testing.T) {
	for _, released := range []bool{false, true} {
		p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
		p.ours.block(p.a.sockets[0])
		if released {
			p.ours.Release()
		}
		require.NoError(t, p.a.Close())
		require.True(t, p.until(time.Second, func() bool { return p.there.down != nil }))
		require.ErrorIs(t, p.there.down, syscall.ECONNRESET)
	}
}

// What a socket has no room for is not lost: it goes out as soon as there is room, and nothing is sent again. Of several packets the system may have taken
// the first ones.
func TestWhatThereIsNoRoomFor(t *testing.T) {
	for taken := range 3 {
		p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
		so := p.a.sockets[0]
		sends, refused, given := so.sends, 0, 0
		so.sends = func() (int, syscall.Errno) {
			refused = so.Packets.Len()
			return taken, syscall.EAGAIN
		}
		require.Equal(t, btl.Done, p.ours.Send(1, 7, make([]byte, 1<<15), nil))
		require.Greater(t, refused, taken)
		so.sends = func() (int, syscall.Errno) {
			given += so.Packets.Len()
			return sends()
		}
		p.ours.Resume()
		require.Equal(t, refused-taken, given)
		require.Empty(t, p.ours.kept)
		require.True(t, p.until(900*time.Millisecond, func() bool { return p.there.messages > 0 && p.ours.p.Queued() == 0 }), "%d taken, %+v", taken, p.ours.p.Path(0))
		if taken == 0 {
			require.Zero(t, p.ours.p.Path(0).Resent)
		}
	}
}

// What waits for room does not hold up the word that an association has ended, which may have room elsewhere.
func TestEndWithoutWhatThereIsNoRoomFor(t *testing.T) {
	p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
	so := p.a.sockets[0]
	sends := so.sends
	so.sends = func() (int, syscall.Errno) {
		if so.Packets.Len() > 1 {
			return 0, syscall.EAGAIN
		}
		return sends()
	}
	require.Equal(t, btl.Done, p.ours.Send(1, 7, make([]byte, 1<<15), nil))
	require.True(t, p.ours.blocked)
	p.ours.Release()
	p.b.Linger()
	require.ErrorIs(t, p.there.down, syscall.ECONNRESET)
	so.sends = sends
}

// Packets that messages do not fill leave together too: a call of the system for each would take longer than all else.
func TestPacketsThatAreNotFullLeaveTogether(t *testing.T) {
	for _, size := range []int{100, 500, 1000} {
		p := newPair(t, addresses("127.0.0.1"), addresses("127.0.0.2"))
		so := p.a.sockets[0]
		sends, most := so.sends, 0
		so.sends = func() (int, syscall.Errno) {
			most = max(most, so.Packets.Len())
			return sends()
		}
		const messages = 100
		for range messages {
			require.Equal(t, btl.Done, p.ours.Send(1, 7, make([]byte, size), nil))
		}
		require.True(t, p.until(time.Second, func() bool { return p.there.messages == messages }))
		assert.GreaterOrEqual(t, most, 4, "messages of %d bytes", size)
	}
}
