//go:build linux

package wire

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Config says what to join by what.
type Config struct {
	Switch     *emulate.Switch // the wire's from now on
	Interfaces []int           // one for each host, by index, in this process's network
	MTU        int             // of the interfaces
	Memory     int             // bound on the bytes of frames that are on their way; 0: DefaultMemory
}

// DefaultMemory is 500 ms of eight hosts that receive 500 Mbit/s each.
const DefaultMemory = 256 << 20

// An Engine is a wire at work.
type Engine struct {
	net     *emulate.Switch
	ports   []*port
	buffers *buffers
	lengths []int // of the frames in the buffers
	frame   int   // the longest
	epoch   time.Time
	empty   time.Duration    // all that came before it was taken from the rings
	clock   func() time.Time // time.Now, but for tests
	polls   []unix.PollFd    // the ports, and what stops it
	stop    int
	alarm   alarm

	stats Stats
	late  lateness
	err   error
	over  chan struct{}
}

// Start starts a wire. It runs until Stop.
func Start(c Config) (*Engine, error) {
	if len(c.Interfaces) != c.Switch.Hosts() {
		return nil, fmt.Errorf("%d interfaces for %d hosts: want one for each", len(c.Interfaces), c.Switch.Hosts())
	}
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	e := &Engine{net: c.Switch, frame: c.MTU + emulate.EthernetHeader, over: make(chan struct{}), stop: -1, clock: time.Now}
	e.buffers = newBuffers((e.frame+63)&^63, c.Memory)
	if err := e.open(c); err != nil {
		e.release()
		return nil, err
	}
	go e.run()
	return e, nil
}

func (e *Engine) open(c Config) (err error) {
	if e.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for host, index := range c.Interfaces {
		r, err := newRing(index, e.frame, len(c.Interfaces))
		if err != nil {
			return fmt.Errorf("host %d: %w", host, err)
		}
		e.ports = append(e.ports, newPort(r))
		e.polls = append(e.polls, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
	}
	e.polls = append(e.polls, unix.PollFd{Fd: int32(e.stop), Events: unix.POLLIN})
	return nil
}

func (e *Engine) release() {
	for _, p := range e.ports {
		p.close()
	}
	if e.stop >= 0 {
		unix.Close(e.stop)
	}
	e.buffers.close()
}

// Stop ends the wire; what is on its way is lost. It returns how it went, and must
// be called once.
func (e *Engine) Stop() (Stats, error) {
	_, err := unix.Write(e.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	if err != nil {
		return Stats{}, fmt.Errorf("eventfd: %w", err) // can not be: it is open and 0
	}
	<-e.over
	for _, p := range e.ports {
		n, err := p.overruns()
		e.err = errors.Join(e.err, err)
		e.stats.Overrun += n
	}
	e.release()
	e.stats.Late, e.stats.Late99, e.stats.Worst = e.late.quantile(0.5), e.late.quantile(0.99), e.late.worst
	e.stats.Mean = e.late.mean()
	return e.stats, e.err
}

func (e *Engine) run() {
	defer close(e.over)
	runtime.LockOSThread() // and never unlock: its timers stay exact
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		e.err = fmt.Errorf("timer slack: %w", err)
		return
	}
	e.epoch = e.clock()
	due := make([]emulate.Delivery, 0, batch)
	for {
		taken, complete := e.collect()
		e.deliver(due, complete)
		if taken >= fullTurn {
			continue
		}
		stop, err := e.wait(taken >= manyFrames)
		if stop || err != nil {
			e.err = err
			return
		}
	}
}

// A turn of the loop.
const (
	fullTurn   = 4 * batch // frames of one turn and host, after which there may be more
	manyFrames = 4         // frames of one turn after which it pays to wait for some more
	grain      = 20 * time.Microsecond
)

// collect gives the switch what the hosts have sent. complete is a time before which no frame is
// missing, so what is due by then can be delivered. Were one missing, it would be taken later and
// find that later frames have passed the receiver's queue.
func (e *Engine) collect() (taken int, complete time.Duration) {
	began, full := e.clock().Sub(e.epoch), false
	complete = began
	for _, p := range e.ports {
		p.ready = p.count(fullTurn)
		full = full || p.ready == fullTurn
	}
	// Every counted frame came before this reading, however long the thread has stood still.
	wall := e.clock()
	for host, p := range e.ports {
		e.take(host, p, wall)
		taken += p.ready
		if p.ready == fullTurn {
			complete = min(complete, p.last)
		}
	}
	if !full {
		e.empty = began
	}
	return taken, complete
}

// take gives the switch the frames of a host that were counted. wall is a time after they came.
func (e *Engine) take(host int, p *port, wall time.Time) {
	now, unixNow := wall.Sub(e.epoch), time.Duration(wall.UnixNano())
	for range p.ready {
		packet := p.peek()
		// How long ago the frame came. If a clock was set meanwhile, the difference tells
		// nothing. But a thread that has stood still for long finds frames that are as old.
		age := unixNow - packet.at
		if age < 0 || age > max(time.Second, now-e.empty) {
			age = 0
		}
		p.last = max(p.last, now-age)
		e.send(host, packet, p.last)
		p.release(packet)
	}
}

func (e *Engine) send(from int, p packet, at time.Duration) {
	to, ok := destination(p.data, len(e.ports))
	switch {
	case !ok:
		e.stats.Stray++
		return
	case p.length > e.frame || p.length != len(p.data):
		e.stats.Oversize++
		return
	}
	f, ok := e.buffers.take()
	if !ok {
		e.stats.NoMemory++
		return
	}
	copies, flip := e.net.Send(at, from, to, f, p.length)
	e.buffers.hold(f, copies)
	if copies == 0 {
		return
	}
	for len(e.lengths) <= int(f) {
		e.lengths = append(e.lengths, 0)
	}
	e.lengths[f] = copy(e.buffers.bytes(f), p.data)
	if flip >= 0 {
		e.buffers.bytes(f)[emulate.EthernetHeader+flip/8] ^= 1 << (flip % 8)
	}
}

// deliver sends what is due by a time. due is its scratch space.
func (e *Engine) deliver(due []emulate.Delivery, until time.Duration) {
	for {
		got := e.net.Due(until, due)
		for _, d := range got {
			if d.To == emulate.Dropped {
				e.buffers.letGo(d.Frame)
				continue
			}
			p := e.ports[d.To]
			p.add(d, e.buffers.bytes(d.Frame)[:e.lengths[d.Frame]])
			if p.waiting == batch {
				e.flush(p)
			}
		}
		if len(got) < cap(due) {
			break
		}
	}
	for _, p := range e.ports {
		if p.waiting > 0 {
			e.flush(p)
		}
	}
}

func (e *Engine) flush(p *port) {
	n, began := p.waiting, e.clock().Sub(e.epoch)
	refused := p.flush()
	took := e.clock().Sub(e.epoch) - began
	e.stats.Refused += uint64(refused)
	e.stats.Frames += uint64(n - refused)
	for i, d := range p.frames[:n] {
		// They leave one after the other. The receiving host's own work is done meanwhile.
		e.late.add(began + took*time.Duration(i+1)/time.Duration(n) - d.Due)
		e.buffers.letGo(d.Frame)
	}
}
