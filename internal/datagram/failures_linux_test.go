package datagram

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/rawio"
)

// complains reports whether the system has the loop look at a socket for an error.
func complains(s *Socket) bool {
	set := []unix.PollFd{{Fd: int32(s.fd)}}
	n, _ := unix.Poll(set, 0)
	return n > 0 && set[0].Revents&unix.POLLERR != 0
}

// A send may take the word of an error from the socket. What the error was is heard all the same, and the system stops having the
// loop look for it: the loop would not sleep any more.
func TestWhatASendHasTakenTheErrorOf(t *testing.T) {
	a, l, o := open(t)
	b, _, _ := open(t)
	gone, _, _ := open(t)
	there, nobody := rawio.NewDestination(b.Local), rawio.NewDestination(gone.Local)
	gone.Close()
	_ = a.Send([]byte("quoted"), &nobody)
	for !complains(a) {
		runtime.Gosched()
	}
	_ = a.Send([]byte("x"), &there)
	for range 3 {
		l.handler.Poll(complains(a))
	}
	assert.False(t, complains(a))
	require.NotEmpty(t, o.failed)
	assert.Equal(t, syscall.ECONNREFUSED, o.failed[0].Code)
}

// What the system itself finds to be too long for the interface is no error of a receive's.
func TestTooLongForTheInterface(t *testing.T) {
	a, l, o := open(t)
	b, _, _ := open(t)
	there := rawio.NewDestination(b.Local)
	_ = a.Send(make([]byte, 65_507+1), &there)
	for range 3 {
		l.handler.Poll(complains(a))
	}
	assert.False(t, complains(a))
	for _, f := range o.failed {
		assert.Equal(t, syscall.EMSGSIZE, f.Code)
	}
}
