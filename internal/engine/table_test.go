package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
)

// table is a poller with descriptors that exist nowhere else, and a clock that a look at it advances, so that who spins in virtual time
// comes to an end. To the engine it is as the system's.
type table struct {
	start             time.Time
	alarms            *time.Timer
	kicks, news, rung flare

	mu       sync.Mutex
	skew     time.Duration // by which its time is ahead of the virtual one
	sockets  map[int]*socket
	order    []int
	attended bool
	bell     bool // it was roused, or the alarm is over
	refuse   int  // so many times the system has no room
}

// socket is one of its descriptors.
type socket struct {
	token   uint64
	writing bool // it is watched for room
	come    int  // what can be read
	room    bool // it can be written
}

var errNoRoom = errors.New("no room in the table")

func newTable() *table {
	p := &table{start: time.Now(), kicks: make(flare, 1), news: make(flare, 1), rung: make(flare, 1), sockets: make(map[int]*socket)}
	p.alarms = newAlarm(p.rouse)
	return p
}

func (p *table) now() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skew += time.Microsecond
	return int64(time.Since(p.start) + p.skew)
}

// ready fills in what can be done. The table's lock is held.
func (p *table) ready(buf []event) (n int) {
	for _, fd := range p.order {
		s := p.sockets[fd]
		if writable := s.writing && s.room; n < len(buf) && (writable || s.come > 0) {
			buf[n] = event{s.token, writable}
			n++
		}
	}
	return n
}

func (p *table) wait(buf []event, timeout int64) int {
	for {
		p.mu.Lock()
		n := p.ready(buf)
		p.mu.Unlock()
		if n > 0 || timeout == 0 {
			return n
		}
		var over <-chan time.Time
		if timeout > 0 {
			over = time.After(time.Duration(timeout))
		}
		select {
		case <-p.news:
		case <-p.kicks:
			return 0
		case <-over:
			return 0
		}
	}
}

func (p *table) kick()     { p.kicks.fire() }
func (p *table) calmDown() { p.kicks.douse() }

func (p *table) doze() bool {
	for {
		p.mu.Lock()
		came := p.attended && p.ready(make([]event, 1)) > 0
		bell := p.bell
		p.bell = false
		p.mu.Unlock()
		if came || bell {
			return came && !bell
		}
		<-p.rung
	}
}

func (p *table) rouse() {
	p.mu.Lock()
	p.bell = true
	p.mu.Unlock()
	p.rung.fire()
}

func (p *table) alarm(after int64) { p.alarms.Reset(time.Duration(after)) }

func (p *table) attend(on bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on && !p.attended && p.refused() {
		return false
	}
	p.attended = on
	p.rung.fire()
	return true
}

// refused reports whether the system has no room this time.
func (p *table) refused() bool {
	if p.refuse == 0 {
		return false
	}
	p.refuse--
	return true
}

func (p *table) add(fd int, token uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused() {
		return errNoRoom
	}
	p.sockets[fd].token, p.sockets[fd].writing = token, false
	p.order = append(p.order, fd)
	p.tell()
	return nil
}

func (p *table) write(fd int, _ uint64, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sockets[fd].writing = on
	p.tell()
	return nil
}

func (p *table) remove(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.order {
		if other == fd {
			p.order = append(p.order[:i:i], p.order[i+1:]...)
			return
		}
	}
}

// tell has those who wait look again.
func (p *table) tell() {
	p.news.fire()
	p.rung.fire()
}

// change changes a socket.
func (p *table) change(fd int, how func(*socket)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how(p.sockets[fd])
	p.tell()
}

// lack has the system have no room so many times.
func (p *table) lack(times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = times
}

func (p *table) close() { p.alarms.Stop() }

// port is an endpoint with a descriptor in a table.
type port struct {
	p     *table
	fd    int
	watch btl.Watch
	come  []func() // what arrives by it
	held  []func() // what waits for room
}

// receive has something arrive. The engine's lock is held.
func (o *port) receive(f func()) {
	o.come = append(o.come, f)
	o.p.change(o.fd, func(s *socket) { s.come++ })
}

// send does something as soon as there is room, which there is after a while.
func (o *port) send(f func(), while time.Duration) {
	o.held = append(o.held, f)
	o.p.change(o.fd, func(s *socket) { s.room = false })
	o.watch.Write(true)
	time.AfterFunc(while, func() { o.p.change(o.fd, func(s *socket) { s.room = true }) })
}

// pollWith is a read, and a write if there may be room.
func (o *port) pollWith(writable bool) (did bool) {
	if len(o.come) > 0 {
		next := o.come[0]
		o.come = o.come[1:]
		o.p.change(o.fd, func(s *socket) { s.come-- })
		next()
		did = true
	}
	room := false
	o.p.change(o.fd, func(s *socket) { room = s.room })
	if writable && room && len(o.held) > 0 {
		held := o.held
		o.held = nil
		o.watch.Write(false)
		for _, f := range held {
			f()
		}
		did = true
	}
	return did
}

// portHandler and portSource are a port as its descriptor's handler and as what is waited for.
type (
	portHandler struct{ *port }
	portSource  struct{ *port }
)

func (h portHandler) Poll(writable bool) bool { return h.pollWith(writable) }
func (s portSource) Poll() bool               { return s.pollWith(false) }
func (s portSource) Watch() btl.Watch         { return s.watch }
