//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/sctpsock"
)

const (
	// readSize is the longest piece of a message that is read at once.
	readSize = 256 << 10
	// A turn reads at most so many messages, and about so many bytes, before the loop
	// looks at other things.
	turnMessages = 64
	turnBytes    = 1 << 20
	// turnErrors is how many errors of the socket end a turn.
	turnErrors = 16
)

// kernel is the one socket and all that goes over it. It implements
// [stack.Stack] and is the watch's [btl.Handler].
type kernel struct {
	cfg     stack.Config
	sock    *sctpsock.Socket
	port    uint16
	watch   btl.Watch
	assocs  map[sctpsock.AssocID]*association
	buf     []byte
	scratch []byte // for messages of very many pieces
	reading bool   // in receive
	posted  bool   // receive is to be called once more
	room    room
	longest int // message that the buffers are good for
	closed  bool

	receiveBuffer int
}

// Local implements [stack.Stack].
func (k *kernel) Local() []netip.Addr { return k.cfg.Local }

// Port implements [stack.Stack].
func (k *kernel) Port() uint16 { return k.port }

// MaxMessage implements [stack.Stack]: the longest message that leaves room in the
// socket's buffers for those of other peers and streams.
func (k *kernel) MaxMessage() int { return k.longest }

// Progress implements [stack.Stack]: the watch announces everything.
func (k *kernel) Progress() bool { return false }

// Linger implements [stack.Stack].
func (k *kernel) Linger() {
	k.sock.Wait(1)
	k.Poll(true)
}

// Farewell implements [stack.Stack].
func (k *kernel) Farewell() time.Duration { return 0 }

// Close implements [stack.Stack].
func (k *kernel) Close() error {
	if k.closed {
		return nil
	}
	k.closed = true
	for _, a := range k.assocs {
		a.Abort()
	}
	k.watch.Stop()
	k.empty()
	k.sock.Close()
	return nil
}

// empty reads what nobody wants. If anything is unread when the socket is closed, the kernel aborts
// all of its associations, released ones too, and what it has not sent yet is lost. It also aborts
// an association that has got a part of a long message only. The peer learns of that when it sends
// the rest again.
func (k *kernel) empty() {
	const enough = 4096 // messages: a peer may send without end
	for range enough {
		if _, _, errno := k.sock.Receive(k.buf); errno == syscall.EAGAIN {
			return
		}
	}
}

// Associate implements [stack.Stack]. The error is EISCONN if the peer's attempt
// has come first; its association is, or will be, Accept's.
func (k *kernel) Associate(r stack.Route, h stack.Handler) (stack.Association, error) {
	var addrs []netip.Addr
	for _, p := range r.Pairs {
		if addr := p.Remote.Addr(); !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	port := r.Pairs[0].Remote.Port()
	id, err := k.connect(addrs, port, r.Pairs[0].Encap)
	if err != nil {
		return nil, fmt.Errorf("associating with %v port %d: %w", addrs, port, err)
	}
	a := k.add(id, h)
	a.remote = r.Pairs[0].Remote
	a.timer = overdue.After(k.cfg.Loop, k.cfg.ConnectTimeout, func() {
		k.abort(a)
		a.down(fmt.Errorf("no answer in %v: %w", k.cfg.ConnectTimeout, syscall.ETIMEDOUT))
	})
	return a, nil
}

// connect begins an association, carried to UDP port encap if that is not 0. The socket
// has one such port for all associations to come. So it is changed for this one, and
// changed back.
func (k *kernel) connect(addrs []netip.Addr, port, encap uint16) (id sctpsock.AssocID, err error) {
	if encap == 0 {
		return k.sock.Connect(addrs, port)
	}
	if err := k.sock.SetEncapPort(encap); err != nil {
		return 0, err
	}
	id, err = k.sock.Connect(addrs, port)
	if back := k.sock.SetEncapPort(uint16(k.cfg.EncapPort)); back != nil && err == nil {
		return 0, errors.Join(back, k.sock.Abort(id))
	}
	return id, err
}

func (k *kernel) add(id sctpsock.AssocID, h stack.Handler) *association {
	a := &association{k: k, id: id, handler: h}
	k.assocs[id] = a
	return a
}

// abort ends an association at the kernel.
func (k *kernel) abort(a *association) {
	// It fails if the association is no more, which is as well.
	_ = k.sock.Abort(a.id)
}

// Poll implements [btl.Handler].
func (k *kernel) Poll(writable bool) bool {
	did := k.receive()
	if writable && !k.closed {
		k.roomInSocket()
	}
	return did
}

// receive reads what there is, within a turn.
func (k *kernel) receive() bool {
	if k.reading || k.closed {
		return false
	}
	k.reading = true
	defer func() { k.reading = false }()
	messages, bytes, failures := 0, 0, 0
	for !k.closed && messages < turnMessages && bytes < turnBytes && failures < turnErrors {
		n, info, errno := k.sock.Receive(k.buf)
		switch {
		case errno == syscall.EAGAIN:
			k.emptied()
			return messages > 0
		case errno == syscall.EBADMSG:
			k.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the kernel does not say what it has received: %w", errno))
			failures++
			continue
		case errno != 0:
			failures++ // an association's error; a notification tells whose
			continue
		}
		messages++
		bytes += n
		if info.Notification {
			k.notified(k.buf[:n])
		} else if a := k.assocs[info.Assoc]; a != nil {
			a.received++
			a.arrived(info, k.buf[:n])
		}
	}
	// Some wait for the socket to be read empty (ask), and perhaps nothing arrives any more that
	// would call this again.
	if len(k.room.asking) > 0 && !k.posted && !k.closed {
		k.posted = true
		k.cfg.Loop.Post(func() {
			k.posted = false
			k.receive()
		})
	}
	return messages > 0
}

// notified is told what has happened to an association.
func (k *kernel) notified(b []byte) {
	n, err := sctpsock.ParseNotification(b)
	if err != nil {
		k.cfg.Warn(netip.AddrPort{}, err)
		return
	}
	a := k.assocs[n.Assoc]
	switch {
	case n.Kind == sctpsock.AssocChange && n.State == sctpsock.CommUp:
		k.established(n)
	case a == nil: // aborted
	case n.Kind == sctpsock.AssocChange:
		a.changed(n)
	case n.Kind == sctpsock.PeerAddrChange:
		a.pathChanged(n, time.Now())
	case n.Kind == sctpsock.SenderDry:
		k.dry(a)
	case n.Kind == sctpsock.PartialDelivery:
		k.abort(a)
		a.down(fmt.Errorf("a message on stream %d broke off: %w", n.Stream, syscall.ECONNRESET))
	}
}

// established: an association has come up, ours or one that a peer has begun.
func (k *kernel) established(n sctpsock.Notification) {
	a := k.assocs[n.Assoc]
	if a != nil {
		if !a.up {
			a.establish(n)
			a.handler.Up()
		}
		return
	}
	if _, err := k.sock.Status(n.Assoc); err != nil {
		return // aborted in the meantime
	}
	a = k.add(n.Assoc, nil)
	a.establish(n)
	if a.handler = k.cfg.Accept(a); a.handler == nil {
		a.Abort()
	}
}
