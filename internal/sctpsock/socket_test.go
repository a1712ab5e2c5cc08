//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"bytes"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// watchdog is how long a test waits for what must come.
const watchdog = 20 * time.Second

// localhost are addresses that every kernel has.
var localhost = []netip.Addr{netip.MustParseAddr("127.0.0.1")}

// end is a socket under test.
type end struct {
	*Socket
	t    testing.TB
	port uint16
	buf  []byte
}

func openEnd(t testing.TB, o Options, addrs ...netip.Addr) *end {
	need.KernelSCTP(t)
	if len(addrs) == 0 {
		addrs = localhost
	}
	o.NoDelay = true
	o.Events = append(o.Events, AssocChange, PeerAddrChange, Shutdown)
	s, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	port, err := s.Bind(addrs, 0)
	require.NoError(t, err)
	require.NoError(t, s.Listen(64))
	return &end{Socket: s, t: t, port: port, buf: make([]byte, 1<<20)}
}

// next waits for the next piece or notification.
func (e *end) next() (RecvInfo, []byte) {
	deadline := time.Now().Add(watchdog)
	for time.Now().Before(deadline) {
		n, info, errno := e.Receive(e.buf)
		if errno == syscall.EAGAIN {
			e.Wait(100)
			continue
		}
		require.Zero(e.t, errno)
		return info, e.buf[:n]
	}
	require.Fail(e.t, "nothing came")
	return RecvInfo{}, nil
}

// told waits for a notification of that kind, and for a state that is one of
// those given, if any are.
func (e *end) told(kind Kind, states ...int) Notification {
	for {
		info, b := e.next()
		require.True(e.t, info.Notification, "data instead of a notification")
		require.True(e.t, info.End)
		n, err := ParseNotification(b)
		require.NoError(e.t, err)
		if n.Kind != kind {
			continue
		}
		for _, s := range states {
			if n.State == s {
				return n
			}
		}
		if len(states) == 0 {
			return n
		}
	}
}

// message waits for a whole message.
func (e *end) message() (RecvInfo, []byte) {
	var whole []byte
	for {
		info, b := e.next()
		if info.Notification {
			continue
		}
		if whole = append(whole, b...); info.End {
			return info, whole
		}
	}
}

func (e *end) send(id AssocID, stream uint16, pieces ...string) {
	for _, p := range pieces {
		require.True(e.t, e.Add([]byte(p)))
	}
	require.Zero(e.t, e.Send(SendInfo{Assoc: id, Stream: stream, PPID: 0xabcd0123}))
}

// associate joins two ends and returns the numbers that they have for it.
func associate(x, y *end) (AssocID, AssocID) {
	id, err := x.Connect(localhost, y.port)
	require.NoError(x.t, err)
	require.Equal(x.t, id, x.told(AssocChange, CommUp).Assoc)
	return id, y.told(AssocChange, CommUp).Assoc
}

func TestKernelMessages(t *testing.T) {
	x, y := openEnd(t, Options{Streams: 10}), openEnd(t, Options{Streams: 12})
	id, err := x.Connect(localhost, y.port)
	require.NoError(t, err)
	up := x.told(AssocChange, CommUp)
	assert.Equal(t, id, up.Assoc)
	assert.Equal(t, [2]uint16{10, 10}, [2]uint16{up.Out, up.In}, "the fewer of the two")
	back := y.told(AssocChange, CommUp).Assoc

	x.send(id, 9, "head", "", " and payload")
	info, b := y.message()
	assert.Equal(t, RecvInfo{Assoc: back, Stream: 9, PPID: 0xabcd0123, End: true}, info)
	assert.Equal(t, "head and payload", string(b))
	y.send(back, 0, "back")
	info, b = x.message()
	assert.Equal(t, RecvInfo{Assoc: id, PPID: 0xabcd0123, End: true}, info)
	assert.Equal(t, "back", string(b))

	x.Add([]byte("x"))
	assert.Equal(t, syscall.EINVAL, x.Send(SendInfo{Assoc: id, Stream: 10}), "no such stream")
	x.Add([]byte("x"))
	assert.Equal(t, syscall.EPIPE, x.Send(SendInfo{Assoc: id + 100}), "no such association")
	_, _, errno := x.Receive(x.buf)
	assert.Equal(t, syscall.EAGAIN, errno)
}

func TestKernelLongMessagesComeInPieces(t *testing.T) {
	o := Options{SendBuffer: 1 << 20, ReceiveBuffer: 1 << 20}
	x, y := openEnd(t, o), openEnd(t, o)
	id, _ := associate(x, y)
	y.buf = y.buf[:1000]
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	x.send(id, 0, string(want[:7]), string(want[7:]))
	info, got := y.message()
	assert.True(t, info.End)
	assert.True(t, bytes.Equal(want, got))

	room, err := x.SendBuffer()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, room, 2<<20, "the superuser gets what he asks for, doubled")
	x.Add(make([]byte, room+1))
	assert.Equal(t, syscall.EMSGSIZE, x.Send(SendInfo{Assoc: id}))
}

// A full socket says so, and Queued tells how much it holds.
func TestKernelFullSocket(t *testing.T) {
	x, y := openEnd(t, Options{SendBuffer: 1 << 17}), openEnd(t, Options{ReceiveBuffer: 1 << 14})
	id, _ := associate(x, y)
	message := make([]byte, 1000)
	fragment := mustStatus(t, x, id).Fragment
	assert.Greater(t, fragment, 1000)
	room, err := x.SendBuffer()
	require.NoError(t, err)
	var errno syscall.Errno
	for errno == 0 {
		x.Add(message)
		errno = x.Send(SendInfo{Assoc: id})
	}
	assert.Equal(t, syscall.EAGAIN, errno)
	queued, err := x.Queued()
	require.NoError(t, err)
	assert.Greater(t, queued+Charge(1000, fragment), room)
	assert.Positive(t, mustStatus(t, x, id).Unacknowledged)
}

func mustStatus(t testing.TB, e *end, id AssocID) Status {
	s, err := e.Status(id)
	require.NoError(t, err)
	return s
}

// Charge is never less than what the kernel counts, and not three times as much.
func TestKernelCharges(t *testing.T) {
	for _, size := range []int{1, 64, 300, 1000, 1452, 5000, 20_000, 65_000, 65_536, 200_000} {
		x, y := openEnd(t, Options{SendBuffer: 4 << 20}), openEnd(t, Options{ReceiveBuffer: 1 << 12})
		id, _ := associate(x, y)
		for range 8 { // fills the peer's window, so that the rest stays here
			x.Add(make([]byte, 60_000))
			require.Zero(t, x.Send(SendInfo{Assoc: id}))
		}
		before := settled(t, x)
		const times = 4
		for range times {
			x.Add(make([]byte, size))
			require.Zero(t, x.Send(SendInfo{Assoc: id}))
		}
		after, err := x.Queued()
		require.NoError(t, err)
		charge := times * Charge(size, mustStatus(t, x, id).Fragment)
		assert.GreaterOrEqual(t, charge, after-before, "%d bytes", size)
		assert.Less(t, charge, 3*(after-before), "%d bytes", size)
	}
}

// settled waits until what is queued stays the same.
func settled(t testing.TB, e *end) int {
	last := -1
	for deadline := time.Now().Add(watchdog); time.Now().Before(deadline); e.Wait(50) {
		n, err := e.Queued()
		require.NoError(t, err)
		if n == last {
			return n
		}
		last = n
	}
	require.Fail(t, "the queue does not settle")
	return 0
}

func TestKernelSenderDry(t *testing.T) {
	x, y := openEnd(t, Options{}), openEnd(t, Options{})
	id, _ := associate(x, y)
	require.NoError(t, x.Subscribe(id, SenderDry, true))
	assert.Equal(t, id, x.told(SenderDry).Assoc, "at once if there is nothing")
	x.send(id, 0, "message")
	assert.Equal(t, id, x.told(SenderDry).Assoc)
	require.NoError(t, x.Subscribe(id, SenderDry, false))
	queued, err := x.Queued()
	require.NoError(t, err)
	assert.Zero(t, queued)
	_, b := y.message()
	assert.Equal(t, "message", string(b))
}

// A lone message is acknowledged after 200 ms, or at once if that is asked for.
func TestKernelAckNow(t *testing.T) {
	x, y := openEnd(t, Options{}), openEnd(t, Options{})
	id, _ := associate(x, y)
	require.NoError(t, x.Subscribe(id, SenderDry, true))
	x.told(SenderDry)
	soon := 0
	for range 5 { // other things may be slow
		x.Add([]byte("message"))
		start := time.Now()
		require.Zero(t, x.Send(SendInfo{Assoc: id, AckNow: true}))
		x.told(SenderDry)
		if time.Since(start) < 150*time.Millisecond {
			soon++
		}
	}
	assert.Positive(t, soon)
}

func TestKernelEnds(t *testing.T) {
	x, y := openEnd(t, Options{}), openEnd(t, Options{})
	id, back := associate(x, y)
	require.NoError(t, x.Abort(id))
	lost := y.told(AssocChange, CommLost)
	assert.Equal(t, back, lost.Assoc)
	assert.Error(t, x.Abort(id), "it is no more")

	id, back = associate(x, y)
	x.send(id, 0, "the last")
	require.NoError(t, x.Shutdown(id))
	_, b := y.message()
	assert.Equal(t, "the last", string(b))
	assert.Equal(t, back, y.told(AssocChange, ShutdownDone).Assoc)
	assert.Equal(t, id, x.told(AssocChange, ShutdownDone).Assoc)
}

func TestKernelNobodyThere(t *testing.T) {
	x, gone := openEnd(t, Options{}), openEnd(t, Options{})
	gone.Close()
	id, err := x.Connect(localhost, gone.port)
	require.NoError(t, err)
	n := x.told(AssocChange)
	assert.Equal(t, CannotAssociate, n.State)
	assert.Equal(t, id, n.Assoc)
}

// Both sides call at the same time and get one association.
func TestKernelSimultaneousConnect(t *testing.T) {
	both := 0
	for range need.Times(10, 1000) {
		x, y := openEnd(t, Options{Streams: 7}), openEnd(t, Options{Streams: 7})
		start := make(chan struct{})
		var ids [2]AssocID
		var errs [2]error
		done := make(chan struct{}, 2)
		for i, e := range []*end{x, y} {
			to := []*end{y, x}[i].port
			go func() {
				<-start
				ids[i], errs[i] = e.Connect(localhost, to)
				done <- struct{}{}
			}()
		}
		close(start)
		<-done
		<-done
		for i, e := range []*end{x, y} {
			up := e.told(AssocChange, CommUp)
			assert.Equal(t, [2]uint16{7, 7}, [2]uint16{up.Out, up.In}, "streams")
			if errs[i] != nil {
				assert.ErrorIs(t, errs[i], syscall.EISCONN)
			} else {
				assert.Equal(t, ids[i], up.Assoc)
			}
		}
		require.False(t, errs[0] != nil && errs[1] != nil)
		if errs[0] == nil && errs[1] == nil {
			both++
		}
		x.send(x.only(), 0, "x")
		y.send(y.only(), 0, "y")
		_, b := x.message()
		assert.Equal(t, "y", string(b))
		_, b = y.message()
		assert.Equal(t, "x", string(b))
		x.Close()
		y.Close()
	}
	t.Logf("neither call was late in %d trials", both)
}

// only is the one association that there is.
func (e *end) only() AssocID {
	var b [64]byte
	const assocIDList = 29
	n, err := e.get("SCTP_GET_ASSOC_ID_LIST", assocIDList, b[:])
	require.NoError(e.t, err)
	require.Equal(e.t, 8, n, "one association")
	return AssocID(b[4]) | AssocID(b[5])<<8
}

func TestKernelNothingAllocated(t *testing.T) {
	x, y := openEnd(t, Options{}), openEnd(t, Options{})
	id, _ := associate(x, y)
	b := make([]byte, 64)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		x.Add(b[:32])
		x.Add(b[32:])
		if x.Send(SendInfo{Assoc: id, Stream: 1}) != 0 {
			panic("not sent")
		}
		for {
			_, info, errno := y.Receive(y.buf)
			if errno == 0 && !info.Notification {
				break
			}
			y.Wait(100)
		}
	}))
}
