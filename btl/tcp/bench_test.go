package tcp

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/rawio"
)

// sink is a receiver that lands everything in one buffer and counts.
type sink struct {
	buf     []byte
	landing btl.Landing
	frames  int
	want    int
	free    int // frames released
	room    bool
}

func (s *sink) Up([]byte)           {}
func (s *sink) Writable()           { s.room = true }
func (s *sink) Released(*btl.Frame) { s.free++ }
func (s *sink) Drop(*btl.Landing)   {}
func (s *sink) Down(error)          {}
func (s *sink) Deliver(_, payload []byte) error {
	copy(s.buf, payload)
	s.frames++
	return nil
}
func (s *sink) Begin(_ []byte, size int) (*btl.Landing, error) {
	s.landing.Set(size, s.buf[:size], nil, nil)
	return &s.landing, nil
}
func (s *sink) End(*btl.Landing) error {
	s.frames++
	return nil
}

// Done and Park make it a condition: that want frames have come.
func (s *sink) Done() bool        { return s.frames >= s.want }
func (*sink) Park(*engine.Waiter) {}

// room waits until a frame may be offered again.
type room struct{ *sink }

func (r room) Done() bool { return r.room }

// freed waits until want frames are released.
type freed struct {
	*sink
	want int
}

func (f *freed) Done() bool { return f.free >= f.want }

// side is one end of a benchmark.
type side struct {
	n    *node
	ep   *endpoint
	sink *sink
	f    btl.Frame
	free freed
	ctx  context.Context
}

func (s *side) send(f *btl.Frame) bool {
	for {
		switch s.ep.Send(f, 0) {
		case btl.Done:
			return true
		case btl.Taken:
			return false
		case btl.Broken:
			panic("broken")
		}
		s.sink.room = false
		if err := s.n.engine.Wait(s.ctx, room{s.sink}, s.ep); err != nil {
			panic(err)
		}
	}
}

// recv waits for n more frames.
func (s *side) recv(n int) {
	s.sink.want += n
	if err := s.n.engine.Wait(s.ctx, s.sink, s.ep); err != nil {
		panic(err)
	}
}

func newSides(b *testing.B, size int) (*side, *side) {
	x, y := newNode(b, 0, 2), newNode(b, 1, 2)
	p := x.reach(y)
	p.connected()
	y.until("the connection", func() bool { return len(y.accepted) > 0 && y.accepted[0].ups > 0 })
	return newSide(x, p.ep, size), newSide(y, y.accepted[0].ep, size)
}

func benchPingPong(b *testing.B, size int) {
	x, y := newSides(b, size)
	done := make(chan struct{})
	n := b.N
	go func() {
		defer close(done)
		y.n.engine.Lock()
		defer y.n.engine.Unlock()
		for i := range n {
			y.recv(1)
			y.exchange(i)
		}
	}()
	x.n.engine.Lock()
	defer x.n.engine.Unlock()
	b.ReportAllocs()
	b.ResetTimer()
	for i := range n {
		x.exchange(i)
		x.recv(1)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/2000, "µs/half")
	b.ReportMetric(float64(x.ep.counters.SendCalls)/float64(n), "sends/op")
	b.ReportMetric(float64(x.ep.counters.ReceiveCalls)/float64(n), "recvs/op")
	<-done
}

// exchange sends the frame and waits until it is free again.
func (s *side) exchange(int) {
	s.sink.free = 0
	if !s.send(&s.f) {
		s.free = freed{s.sink, 1}
		if err := s.n.engine.Wait(s.ctx, &s.free, s.ep); err != nil {
			panic(err)
		}
	}
}

func BenchmarkPingPong8(b *testing.B)   { benchPingPong(b, 8) }
func BenchmarkPingPong1K(b *testing.B)  { benchPingPong(b, 1<<10) }
func BenchmarkPingPong64K(b *testing.B) { benchPingPong(b, 64<<10) }
func BenchmarkPingPong1M(b *testing.B)  { benchPingPong(b, 1<<20) }

// BenchmarkRate sends windows of 64 frames of 8 bytes, each answered by one.
func BenchmarkRate(b *testing.B) {
	const window = 64
	x, y := newSides(b, 8)
	n := b.N/window + 1
	done := make(chan struct{})
	go func() {
		defer close(done)
		y.n.engine.Lock()
		defer y.n.engine.Unlock()
		for range n {
			y.recv(window)
			y.send(&y.f)
		}
	}()
	x.n.engine.Lock()
	defer x.n.engine.Unlock()
	b.ReportAllocs()
	b.ResetTimer()
	for range n {
		for range window {
			x.send(&x.f)
		}
		x.recv(1)
	}
	b.StopTimer()
	b.ReportMetric(float64(x.ep.counters.SendCalls)/float64(n), "sends/window")
	<-done
}

// benchRaw is the floor: two spinning sockets and nothing else.
func benchRaw(b *testing.B, size int) {
	x, y := rawPair(b)
	done := make(chan struct{})
	n := b.N
	go func() {
		defer close(done)
		buf := make([]byte, size)
		for range n {
			rawRecv(&y, buf)
			rawSend(&y, buf)
		}
	}()
	buf := make([]byte, size)
	b.ReportAllocs()
	b.ResetTimer()
	for range n {
		rawSend(&x, buf)
		rawRecv(&x, buf)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/2000, "µs/half")
	<-done
}

func BenchmarkRaw8(b *testing.B)   { benchRaw(b, 8) }
func BenchmarkRaw1K(b *testing.B)  { benchRaw(b, 1<<10) }
func BenchmarkRaw64K(b *testing.B) { benchRaw(b, 64<<10) }
func BenchmarkRaw1M(b *testing.B)  { benchRaw(b, 1<<20) }

func rawRecv(c *rawio.Conn, b []byte) {
	for spins := 0; len(b) > 0; {
		n, errno := c.Recv(b)
		if errno == syscall.EAGAIN {
			if spins++; spins&15 == 0 {
				runtime.Gosched()
			}
			continue
		}
		if n <= 0 {
			panic(fmt.Sprint(n, errno))
		}
		b = b[n:]
	}
}

func rawSend(c *rawio.Conn, b []byte) {
	for spins := 0; len(b) > 0; {
		n, errno := c.Send(b)
		if errno == syscall.EAGAIN {
			if spins++; spins&15 == 0 {
				runtime.Gosched()
			}
			continue
		}
		if errno != 0 {
			panic(errno)
		}
		b = b[n:]
	}
}

func rawPair(b testing.TB) (x, y rawio.Conn) {
	l, err := rawio.Listen(netip.MustParseAddrPort("127.0.0.1:0"), 1)
	require.NoError(b, err)
	x = connectRaw(b, rawio.LocalAddr(l))
	return x, acceptRaw(b, l)
}

// BenchmarkOneThread lets one thread play both sides and reports the processor
// time of half a round trip: what the transport costs above the system calls,
// whatever else the machine is doing.
func BenchmarkOneThread(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 4000, 16 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("raw/%d", size), func(b *testing.B) {
			x, y := rawPair(b)
			buf := make([]byte, size)
			cpuTime(b, func() {
				rawThrough(&x, &y, buf)
				rawThrough(&y, &x, buf)
			})
		})
		b.Run(fmt.Sprintf("tcp/%d", size), func(b *testing.B) {
			x, y := newSides(b, size)
			x.n.engine.Lock()
			defer x.n.engine.Unlock()
			y.n.engine.Lock()
			defer y.n.engine.Unlock()
			cpuTime(b, func() {
				x.through(y)
				y.through(x)
			})
		})
	}
}

// through sends one frame, as if a poll had just been, and receives it.
func (s *side) through(to *side) {
	s.ep.sender.burst = ^uint64(0)
	to.sink.want++
	taken := s.ep.Send(&s.f, 0) == btl.Taken
	for !to.sink.Done() {
		to.ep.Poll()
		if taken {
			s.ep.Poll()
		}
	}
}

func rawThrough(x, y *rawio.Conn, buf []byte) {
	out, in := buf, buf
	for len(in) > 0 {
		if len(out) > 0 {
			n, _ := x.Send(out)
			out = out[n:]
		}
		n, _ := y.Recv(in)
		in = in[n:]
	}
}

func cpuTime(b *testing.B, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range 100 {
		f()
	}
	b.ReportAllocs()
	b.ResetTimer()
	start := threadTime(b)
	for range b.N {
		f()
	}
	used := threadTime(b) - start
	b.StopTimer()
	b.ReportMetric(float64(used)/float64(b.N)/2, "cpu-ns/half")
}
