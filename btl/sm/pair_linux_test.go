package sm

import (
	"crypto/sha256"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// A pair is two connected ranks, on one loop that the test turns.
type pair struct {
	t       *testing.T
	loop    *btltest.Loop
	hosts   [2]*btltest.Host
	modules [2]*module
	recv    [2]*btltest.Receiver
	ep      [2]*endpoint
}

// unconnected opens the modules of two ranks.
func unconnected(t *testing.T, settings ...param.Setting) *pair {
	t.Helper()
	return unconnectedOf(t, Component{}, settings...)
}

// unconnectedOf is unconnected for a component of the test's.
func unconnectedOf(t *testing.T, c btl.Component, settings ...param.Setting) *pair {
	t.Helper()
	p := &pair{t: t, loop: new(btltest.Loop)}
	for i := range p.hosts {
		p.hosts[i] = btltest.NewHost(t, i, 2, c, settings...)
		p.hosts[i].Clock = p.loop
		p.modules[i] = p.hosts[i].Open().(*module)
	}
	return p
}

// connect has rank 0 connect to rank 1, by a first frame, which arrives.
func connect(t *testing.T, settings ...param.Setting) *pair {
	t.Helper()
	p := unconnected(t, settings...)
	p.connect()
	return p
}

func (p *pair) connect() {
	p.t.Helper()
	p.dial()
	p.until("connected", func() bool {
		return p.recv[0].Ups == 1 && len(p.hosts[1].Accepted) == 1 && p.hosts[1].Accepted[0].Ups == 1
	})
	p.recv[1] = p.hosts[1].Accepted[0]
	p.ep[1] = p.recv[1].Endpoint.(*endpoint)
}

// dial has rank 0 begin to connect.
func (p *pair) dial() {
	p.t.Helper()
	peer := p.hosts[1].Peer(p.modules[1])
	paths, err := p.modules[0].Reach(peer)
	require.NoError(p.t, err)
	p.recv[0] = p.hosts[0].NewReceiver(1)
	ep, err := p.modules[0].Connect(peer, paths[0], p.recv[0])
	require.NoError(p.t, err)
	p.ep[0] = ep.(*endpoint)
	require.Equal(p.t, btl.Busy, p.ep[0].Send(frame(8), 0))
}

func frame(size int) *btl.Frame {
	return &btl.Frame{Header: []byte("header"), Payload: make([]byte, size), Size: size}
}

// until turns the loop, and has the modules poll, until the condition holds.
func (p *pair) until(what string, so func() bool) {
	p.t.Helper()
	for end := time.Now().Add(btltest.Timeout); !so(); {
		p.loop.Turn()
		p.loop.Poll()
		for _, m := range p.modules {
			m.Progress()
		}
		require.True(p.t, time.Now().Before(end), "waited in vain for %s", what)
	}
}

// rung reports whether bells wait in a rank's socket.
func (p *pair) rung(rank int) bool {
	n, _, err := unix.Recvfrom(p.ep[rank].pipe.fd, make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return n == 1 && err == nil
}

// An answer to one that has gone is no error: its end is still to be read.
func TestAnswerToOneThatHasGone(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	talk := &talk{fd: fds[0]}
	defer talk.Abort()
	_, err = unix.Write(fds[1], []byte("its last words"))
	require.NoError(t, err)
	require.NoError(t, unix.Close(fds[1]))
	require.NoError(t, talk.Send([]byte("an answer")))
	b := make([]byte, 100)
	n, err := talk.read(b)
	require.NoError(t, err)
	require.Equal(t, "its last words", string(b[:n]))
}

// All ranks of a host may connect to one at the same time: rank 0 of a job that gathers something there. None
// loses its place before it is answered.
func TestManyRanksComeAtOnce(t *testing.T) {
	const many = 200
	p := unconnected(t)
	name, err := nameIn(p.modules[1].Address())
	require.NoError(t, err)
	for range many {
		fd, err := socket(unix.SOCK_STREAM)
		require.NoError(t, err)
		defer unix.Close(fd)
		require.NoError(t, unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + name}))
	}
	p.dial()
	p.until("connected", func() bool { return p.recv[0].Ups == 1 && len(p.hosts[1].Accepted) == 1 })
	require.Equal(t, many, p.modules[1].wire.Count())
}

// full has rank 1's system have no place for another connection, and rank 1 accept none.
func (p *pair) full() *listener {
	p.t.Helper()
	l := p.modules[1].listener
	require.NoError(p.t, unix.Listen(l.fd, 0)) // one place
	fd, err := socket(unix.SOCK_STREAM)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { unix.Close(fd) })
	require.NoError(p.t, unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + p.modules[1].name}))
	l.stop()
	return l
}

// Where more ranks connect at the same time than the system has places for, since the process that they connect to does something
// else, the others wait until it has accepted some. Kernels before 5.4 have 128 places.
func TestMoreRanksThanTheSystemHasPlacesFor(t *testing.T) {
	p := unconnected(t)
	l := p.full()
	p.dial()
	p.loop.Advance(time.Second)
	require.Zero(t, p.recv[0].Downs, "%v", p.recv[0].Err)
	l.rest() // and then it goes on
	for p.recv[0].Ups+p.recv[0].Downs == 0 {
		p.loop.Advance(troubleRest)
		p.loop.Poll()
	}
	require.Equal(t, 1, p.recv[0].Ups, "%v", p.recv[0].Err)
}

// Who waits for a place in vain says so when the time for all attempts is over, and who gives up waits for none.
func TestNoPlaceAtAll(t *testing.T) {
	for name, ends := range map[string]func(*pair){
		"in vain": func(p *pair) {
			p.loop.Advance(time.Minute)
			require.Equal(t, 1, p.recv[0].Downs)
			require.ErrorContains(t, p.recv[0].Err, "no answer in 10s")
			require.ErrorContains(t, p.recv[0].Err, "raise "+pConnectTimeout)
		},
		"given up": func(p *pair) { require.NoError(t, p.ep[0].Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			p := unconnected(t)
			p.full()
			p.dial()
			ends(p)
			require.Zero(t, p.loop.Timers())
		})
	}
}

// Ranks of the superuser that give up their rights when they have begun, as daemons do, share memory all the same.
func TestRanksThatGiveUpTheirRights(t *testing.T) {
	need.Root(t)
	p := unconnected(t)
	runtime.LockOSThread() // the call is the thread's alone
	defer runtime.UnlockOSThread()
	become := func(uid uintptr) {
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, 0)
		require.Zero(t, errno)
	}
	become(65534)
	defer become(0)
	p.connect()
}

// Whoever claims to speak another version keeps its place until it has been told ours. What it says meanwhile, on and on, one poll does not read
// to its end.
func TestOnePollOfOneThatGoesOn(t *testing.T) {
	p := unconnected(t)
	m := p.modules[1]
	fd, err := socket(unix.SOCK_STREAM)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Connect(fd, &unix.SockaddrUnix{Name: "@" + m.name}))
	p.until("it has come", func() bool { return len(m.wire.Embryonic()) == 1 })
	job := sha256.Sum256([]byte(p.hosts[1].Job()))
	said := make([]byte, 4096)
	copy(said, "STRD\x01\x00")
	copy(said[8:], job[:16])
	_, err = unix.Write(fd, said)
	require.NoError(t, err)
	visitor := m.wire.Embryonic()[0].Link().(*talk)
	require.True(t, visitor.Poll(false))
	left, err := unix.IoctlGetInt(visitor.fd, unix.SIOCINQ)
	require.NoError(t, err)
	require.Positive(t, left)
	require.Len(t, m.wire.Embryonic(), 1)
}
