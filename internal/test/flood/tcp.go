package flood

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// keep is how many of its connections a flood holds open: more than a process lets in.
const keep = 4096

// A TCP is a flood of connections that say something once, and nothing more.
type TCP struct {
	// Made counts the connections that were made.
	Made atomic.Int64

	said  []byte
	dial  func() (net.Conn, error)
	over  chan struct{}
	done  sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
}

// NewTCP begins a flood of so many connections a second from an address, until End.
func NewTCP(to netip.AddrPort, from netip.Addr, rate int, said []byte) *TCP {
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: dialTimeout}
	return NewTCPBy(func() (net.Conn, error) { return dialer.Dial("tcp", to.String()) }, rate, said)
}

// dialTimeout is how long a connection of a flood may take.
const dialTimeout = 2 * time.Second

// NewTCPBy begins a flood of connections that dial makes, which may be called by many at a
// time.
func NewTCPBy(dial func() (net.Conn, error), rate int, said []byte) *TCP {
	f := &TCP{said: said, dial: dial, over: make(chan struct{})}
	due := make(chan struct{})
	for range 16 {
		f.done.Go(func() {
			for range due {
				f.connect()
			}
		})
	}
	f.done.Go(func() {
		defer close(due)
		pour(rate, f.over, func(int) {
			select {
			case due <- struct{}{}:
			default: // those that nobody is free to make are left out
			}
		})
	})
	return f
}

func (f *TCP) connect() {
	c, err := f.dial()
	if err != nil {
		return
	}
	_ = c.(*net.TCPConn).SetLinger(0) // by a reset, so that its port is free again at once
	_, _ = c.Write(f.said)
	f.Made.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = append(f.conns, c)
	if len(f.conns) > keep {
		_ = f.conns[0].Close()
		f.conns = f.conns[1:]
	}
}

// End ends the flood.
func (f *TCP) End() {
	close(f.over)
	f.done.Wait()
	for _, c := range f.conns {
		_ = c.Close()
	}
}
