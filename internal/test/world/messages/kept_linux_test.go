package messages_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// endSharedMemory ends the connections over shared memory of this process, as if each peer had ended: it closes their
// sockets for both directions. It returns how many there were.
func endSharedMemory(t *testing.T) (ended int) {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		require.NoError(t, err)
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err != nil || kind != unix.SOCK_STREAM {
			continue
		}
		if at, err := unix.Getsockname(fd); err != nil || !isAbstract(at) {
			if at, err = unix.Getpeername(fd); err != nil || !isAbstract(at) {
				continue
			}
		}
		if unix.Shutdown(fd, unix.SHUT_RDWR) == nil {
			ended++
		}
	}
	return ended
}

func isAbstract(at unix.Sockaddr) bool {
	name, is := at.(*unix.SockaddrUnix)
	return is && strings.HasPrefix(name.Name, "@")
}

// Messages that the ring alone has come over another transport when the connection ends, whether or not the
// receiver has read them.
func TestWhatTheRingKeepsGoesAnotherWay(t *testing.T) {
	for _, size := range []int{100, 200, 1000, 4096} {
		for _, read := range []int{0, 3, 20} {
			t.Run(fmt.Sprintf("%d bytes, %d read", size, read), func(t *testing.T) {
				w, ctx := world.Open(t, 2, strand.WithParam("btl", "sm,tcp,self")), world.Context(t)
				meet(ctx, t, w)
				const many = 30 // within credit
				buf := make([]byte, size)
				for i := range many {
					copy(buf, world.Pattern(size, i))
					require.NoError(t, w[0].Comm().Send(ctx, buf, 1, 1))
				}
				receive := func(from, to int) {
					for i := from; i < to; i++ {
						clear(buf)
						_, err := w[1].Comm().Recv(ctx, buf, 0, 1)
						require.NoError(t, err)
						world.Equal(t, world.Pattern(size, i), buf, "message %d", i)
					}
				}
				receive(0, read)
				require.NotZero(t, endSharedMemory(t))
				receive(read, many)
				require.NoError(t, w[0].Comm().Send(ctx, buf, 1, 1))
				receive(many-1, many)
			})
		}
	}
}
