package flood

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Datagrams are a flood of attempts to connect to a process that listens at a UDP port.
type Datagrams struct {
	// Made counts the attempts that were let in, as far as their addresses are concerned.
	Made atomic.Int64

	to    net.Addr
	conns []net.PacketConn
	hello func() []byte
	reply func([]byte) (answer []byte, made bool)
	over  chan struct{}
	done  sync.WaitGroup
}

// begin begins a flood of so many hellos a second from all the sockets by turns, which End closes. Reply says what
// to answer to what comes back.
func begin(to netip.AddrPort, rate int, conns []net.PacketConn, hello func() []byte, reply func([]byte) ([]byte, bool)) *Datagrams {
	f := &Datagrams{to: net.UDPAddrFromAddrPort(to), conns: conns, hello: hello, reply: reply, over: make(chan struct{})}
	for _, c := range conns {
		f.done.Go(func() { f.echo(c) })
	}
	f.done.Go(func() {
		pour(rate, f.over, func(n int) { _, _ = f.conns[n%len(f.conns)].WriteTo(f.hello(), f.to) })
	})
	return f
}

// echo gives each cookie back.
func (f *Datagrams) echo(c net.PacketConn) {
	b := make([]byte, 2048)
	for {
		n, _, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		answer, made := f.reply(b[:n])
		if answer != nil {
			_, _ = c.WriteTo(answer, f.to)
		}
		if made {
			f.Made.Add(1)
		}
	}
}

// End ends the flood.
func (f *Datagrams) End() {
	close(f.over)
	for _, c := range f.conns {
		_ = c.Close()
	}
	f.done.Wait()
}
