package strandquic

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"
)

// A door bounds the connections that have shown an address, and of which nobody else knows yet: QUIC
// and TLS have a goroutine and buffers for each until [quic.EarlyListener] returns it. An address may
// hold as many places as are still free. So a flood from one address leaves half of them to all others.
type door struct {
	mu   sync.Mutex
	free int
	held map[netip.Addr]int
}

// placeKey is under which a connection's context has what gives its place back.
type placeKey struct{}

var errCrowded = errors.New("too many connections are being made")

func newDoor(places int) *door { return &door{free: places, held: make(map[netip.Addr]int)} }

// enter implements [quic.Transport.ConnContext]. QUIC tells who is refused.
func (d *door) enter(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	from := info.RemoteAddr.(*net.UDPAddr).AddrPort().Addr().Unmap()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[from] >= d.free {
		return nil, errCrowded
	}
	d.free--
	d.held[from]++
	leave := sync.OnceFunc(func() { d.leave(from) })
	context.AfterFunc(ctx, leave) // the connection ends
	return context.WithValue(ctx, placeKey{}, leave), nil
}

// through is called with a connection that package wireup bounds from now on.
func (d *door) through(conn *quic.Conn) { conn.Context().Value(placeKey{}).(func())() }

func (d *door) leave(from netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free++
	if d.held[from]--; d.held[from] == 0 {
		delete(d.held, from)
	}
}
