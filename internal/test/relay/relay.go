package relay

import (
	"io"
	"net"
	"sync"
)

// A Relay is in the middle of all connections of a job.
type Relay struct {
	plan     Plan
	released chan struct{}
	release  sync.Once
	running  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	doors  []*net.TCPListener
	ends   []*net.TCPConn
	lines  int
}

// Release lets pass what [Hold] has kept, and has it keep nothing from then on.
func (r *Relay) Release() { r.release.Do(func() { close(r.released) }) }

// Close ends all connections and waits until nothing of the relay is left.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	for _, d := range r.doors {
		_ = d.Close()
	}
	for _, c := range r.ends {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.Release()
	r.running.Wait()
}

// own notes what Close is to close, and reports whether it is not too late for that.
func (r *Relay) own(ends ...*net.TCPConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, ends...)
	return !r.closed
}

// open relays what comes to a port of its own to another one of the same host.
func (r *Relay) open(to *net.TCPAddr) (port int, err error) {
	door, err := net.ListenTCP("tcp", &net.TCPAddr{IP: to.IP})
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.doors = append(r.doors, door)
	r.mu.Unlock()
	r.running.Go(func() {
		for {
			near, err := door.AcceptTCP()
			if err != nil {
				return
			}
			r.running.Go(func() { r.join(door, near, to) })
		}
	})
	return door.Addr().(*net.TCPAddr).Port, nil
}

// join connects who has come to whom it looks for, and relays until both have ended.
func (r *Relay) join(door *net.TCPListener, near *net.TCPConn, to *net.TCPAddr) {
	defer func() { _ = near.Close() }()
	far, err := net.DialTCP("tcp", nil, to)
	if err != nil {
		_ = door.Close() // the rank has ended: who comes from now on is refused
		_ = near.SetLinger(0)
		return
	}
	defer func() { _ = far.Close() }()
	if !r.own(near, far) {
		return
	}
	faults := r.plan(r.number())
	var forth sync.WaitGroup
	forth.Go(func() { r.pass(near, far, faults.Forth) })
	r.pass(far, near, faults.Back)
	forth.Wait()
}

func (r *Relay) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines++
	return r.lines - 1
}

// pass relays one direction.
func (r *Relay) pass(from, to *net.TCPConn, f Fault) {
	b := make([]byte, 64<<10)
	for at, more := int64(0), true; more; {
		piece := b
		if left := f.At - at; f.Do != None && left >= 0 {
			if left == 0 && !r.happen(from, to, &f) {
				_, _ = io.Copy(io.Discard, from)
				return
			}
			if left > 0 {
				piece = b[:min(left, int64(len(b)))]
			}
		}
		n, err := from.Read(piece)
		if n > 0 && f.Do == Flip && at == f.At {
			b[0] ^= 1 << f.Bit
		}
		if at += int64(n); !give(to, b[:n], f.Piece) {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		more = err == nil
	}
	_ = to.CloseWrite()
}

// give passes bytes on, and reports whether they were taken.
func give(to *net.TCPConn, b []byte, most int) bool {
	for len(b) > 0 {
		n := len(b)
		if most > 0 {
			n = min(n, most)
		}
		if _, err := to.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// happen has a fault happen, and reports whether anything passes after it.
func (r *Relay) happen(from, to *net.TCPConn, f *Fault) bool {
	switch f.Do {
	case Hold:
		<-r.released
		return true
	case Flip:
		return true
	case Shut:
		_ = to.CloseWrite()
	case Cut:
		_ = to.CloseWrite()
		_ = from.CloseWrite()
	case Reset:
		for _, c := range []*net.TCPConn{from, to} {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
	}
	return false
}
