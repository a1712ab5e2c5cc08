//go:build unix

package rawio

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// connected makes a connection over the loopback.
func connected(t testing.TB, at string) (x, y *Conn) {
	t.Helper()
	l, err := Listen(netip.MustParseAddrPort(at), 1)
	require.NoError(t, err)
	defer Close(l)
	to := LocalAddr(l)
	require.NotZero(t, to.Port())
	c, err := Stream(to)
	require.NoError(t, err)
	t.Cleanup(func() { Close(c) })
	_, err = Connect(c, to.Addr(), to)
	require.NoError(t, err)
	WaitAny([]int{l}, 10_000)
	s, from, err := Accept(l)
	require.NoError(t, err)
	t.Cleanup(func() { Close(s) })
	require.Equal(t, LocalAddr(c), from)
	require.NoError(t, SocketError(c))
	a, b := NewConn(c), NewConn(s)
	return &a, &b
}

// receive reads until n bytes are there.
func receive(t testing.TB, c *Conn, n int) []byte {
	t.Helper()
	b := make([]byte, 0, n)
	for len(b) < n {
		k, errno := c.Recv(b[len(b):n])
		if errno == syscall.EAGAIN {
			runtime.Gosched()
			continue
		}
		require.Zero(t, errno)
		require.NotZero(t, k)
		b = b[:len(b)+k]
	}
	return b
}

func TestSendReceive(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		x, y := connected(t, at)
		_, errno := y.Recv(make([]byte, 1))
		require.Equal(t, syscall.EAGAIN, errno)
		n, errno := x.Send([]byte("hello"))
		require.Zero(t, errno)
		require.Equal(t, 5, n)
		require.Equal(t, "hello", string(receive(t, y, 5)))
		ShutdownWrite(x.FD())
		WaitAny([]int{y.FD()}, 10_000)
		n, errno = y.Recv(make([]byte, 1))
		require.Zero(t, errno)
		require.Zero(t, n, "the end of the stream")
	}
}

func TestSendv(t *testing.T) {
	x, y := connected(t, "127.0.0.1:0")
	v := new(Vector)
	var want []byte
	for i := range MaxPieces {
		piece := bytes.Repeat([]byte{byte(i)}, i+1)
		require.True(t, v.Add(piece))
		want = append(want, piece...)
	}
	require.False(t, v.Add([]byte("one too many")))
	require.Equal(t, MaxPieces, v.Len())
	require.Equal(t, len(want), v.Size())
	n, errno := x.Sendv(v)
	require.Zero(t, errno)
	require.Equal(t, len(want), n)
	require.Equal(t, want, receive(t, y, n))
	v.Reset()
	require.Zero(t, v.Len()+v.Size())
}

func TestFullAndBroken(t *testing.T) {
	x, y := connected(t, "127.0.0.1:0")
	require.NoError(t, SetSendBuffer(x.FD(), 1<<16))
	require.NoError(t, SetReceiveBuffer(y.FD(), 1<<16))
	require.NoError(t, SetNoDelay(x.FD(), true))
	b := make([]byte, 1<<16)
	var errno syscall.Errno
	for errno == 0 {
		_, errno = x.Send(b)
	}
	require.Equal(t, syscall.EAGAIN, errno)
	Close(y.FD()) // with unread bytes: a reset; the cleanup's second close finds nothing
	WaitAny([]int{x.FD()}, 10_000)
	for errno = syscall.EAGAIN; errno == syscall.EAGAIN; {
		_, errno = x.Send(b)
	}
	require.Contains(t, []syscall.Errno{syscall.EPIPE, syscall.ECONNRESET}, errno)
}

func TestErrorsNameTheCall(t *testing.T) {
	fd, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), 1)
	require.NoError(t, err)
	_, err = Listen(LocalAddr(fd), 1)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.ErrorContains(t, err, "bind")
	_, _, err = Accept(fd)
	require.ErrorIs(t, err, syscall.EAGAIN)
	gone := LocalAddr(fd)
	Close(fd)
	c, err := Stream(gone)
	require.NoError(t, err)
	defer Close(c)
	if _, err = Connect(c, netip.Addr{}, gone); err == nil {
		for err == nil {
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c), Events: unix.POLLOUT}}, 10_000)
			err = SocketError(c)
		}
	}
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.Error(t, SetCongestion(c, "nosuch"))
	require.False(t, LocalAddr(-1).IsValid())
}

func TestNothingAllocated(t *testing.T) {
	if raceEnabled {
		return // the detector's own bookkeeping allocates
	}
	x, y := connected(t, "127.0.0.1:0")
	v := new(Vector)
	b := make([]byte, 64)
	allocs := testing.AllocsPerRun(1000, func() {
		v.Add(b[:32])
		v.Add(b[32:])
		_, _ = x.Sendv(v)
		v.Reset()
		for got := 0; got < 64; {
			n, errno := y.Recv(b[got:])
			if errno == 0 {
				got += n
			}
		}
		_, _ = y.Recv(b) // nothing there
	})
	require.Zero(t, allocs)
}

// What happened before a message was sent happens before what its receiver does:
// the race detector must see that, and nothing more.
func TestMessageOrders(t *testing.T) {
	x, y := connected(t, "127.0.0.1:0")
	shared := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		receive(t, y, 1)
		shared++
	}()
	shared = 1
	_, _ = x.Send([]byte{1})
	<-done
	require.Equal(t, 2, shared)
}

// Misuse of lent buffers is reported. The test runs itself again, since a report
// makes a test fail.
func TestMisuseIsReported(t *testing.T) {
	if !raceEnabled {
		return // there is no detector to ask
	}
	for _, misuse := range []string{"received", "sent", "gathered"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMisuse$")
		cmd.Env = append(os.Environ(), "RAWIO_MISUSE="+misuse)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "%s: %v\n%s", misuse, err, out)
		require.True(t, strings.Contains(string(out), "DATA RACE"), "%s:\n%s", misuse, out)
	}
}

// TestMisuse does the wrong that TestMisuseIsReported asks for, and nothing if
// run by itself.
func TestMisuse(t *testing.T) {
	misuse := os.Getenv("RAWIO_MISUSE")
	if misuse == "" {
		return
	}
	x, y := connected(t, "127.0.0.1:0")
	buf := make([]byte, 8)
	done := make(chan struct{})
	switch misuse {
	case "received":
		_, _ = x.Send([]byte("12345678"))
		go func() {
			defer close(done)
			for n, errno := y.Recv(buf); n == 0 || errno != 0; n, errno = y.Recv(buf) {
				runtime.Gosched()
			}
		}()
	case "sent":
		go func() { defer close(done); _, _ = x.Send(buf) }()
	case "gathered":
		go func() {
			defer close(done)
			v := new(Vector)
			v.Add([]byte("head"))
			v.Add(buf)
			_, _ = x.Sendv(v)
		}()
	}
	buf[0] = 'x' // it is not ours at the moment
	<-done
}
