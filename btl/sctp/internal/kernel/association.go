//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
)

// An association implements [stack.Association].
type association struct {
	k       *kernel
	id      sctpsock.AssocID
	handler stack.Handler
	timer   btl.Timer // until it is up
	up      bool
	over    bool // aborted or down
	broken  bool // the kernel takes nothing more; Down is due
	midway  bool // a message has come in part
	streams int

	account
	order          order
	paths          paths
	local          string
	remote         netip.AddrPort
	sent, received uint64
}

// establish notes what has been agreed on.
func (a *association) establish(n sctpsock.Notification) {
	a.stopTimer()
	a.up = true
	a.streams = int(min(n.Out, n.In))
	if !a.k.cfg.Interleave { // with I-DATA the kernel keeps the order
		a.order = order{streams: make([]sequence, n.In), most: strangersEarly}
	}
	a.measure()
	a.paths = a.k.pathsOf(a.id, time.Now())
	own, err := a.k.sock.LocalAddrs(a.id)
	if err == nil {
		a.local = describe(own)
	}
	if status, err := a.k.sock.Status(a.id); err == nil {
		a.remote = status.Primary.Addr
	}
}

// setPriorities gives the streams for frames their places with the scheduler.
func (a *association) setPriorities() {
	all := a.k.cfg.Priorities
	if len(all) == 0 {
		return
	}
	for stream := 1; stream < a.streams; stream++ {
		value := all[min(stream, len(all))-1]
		if err := a.k.sock.SetPriority(a.id, uint16(stream), value); err != nil {
			return // the association is no more, which a notification tells
		}
	}
}

// measure asks how much data a chunk holds and how much more the peer takes. Both
// change with time.
func (a *association) measure() {
	if status, err := a.k.sock.Status(a.id); err == nil { // else a notification tells
		a.fragment, a.window = status.Fragment, status.PeerWindow
	}
}

// describe names several addresses at one port: "10.0.0.1,10.1.0.1:4711".
func describe(addrs []netip.AddrPort) string {
	var names []string
	port := uint16(0)
	for _, a := range addrs {
		names = append(names, a.Addr().String())
		port = a.Port()
	}
	return fmt.Sprintf("%s:%d", strings.Join(names, ","), port)
}

// Streams implements [stack.Association].
func (a *association) Streams() int { return a.streams }

// Window implements [stack.Association]. The window that the kernel tells changes all the
// time. So the peer's kernel is assumed to have a buffer as large as ours, half of it for
// data.
func (a *association) Window() int { return a.k.receiveBuffer / 2 }

// Addresses implements [stack.Association].
func (a *association) Addresses() (local, remote string) {
	return a.local, a.remote.String()
}

// Remote implements [stack.Association].
func (a *association) Remote() netip.AddrPort { return a.remote }

// Calls implements [stack.Association].
func (a *association) Calls() (sent, received uint64) { return a.sent, a.received }

// Poll implements [stack.Association]. It reads for all associations: they share the socket.
func (a *association) Poll() bool { return a.k.receive() }

// Watch implements [stack.Association].
func (a *association) Watch() btl.Watch { return nil }

// Send implements [stack.Association]. It asks the peer to acknowledge at once where
// somebody waits for that: for messages sent when room is becoming scarce, and for control
// messages, the last of which ends the association.
func (a *association) Send(stream uint16, ppid uint32, head []byte, f *btl.Frame) btl.Result {
	size := len(head)
	if f != nil {
		size += f.Size
	}
	switch {
	case a.broken || a.over || !a.up:
		return btl.Broken
	case size > a.k.cfg.MaxMessage:
		a.breakOff(fmt.Errorf("a message of %d bytes, at most %d were agreed on: %w", size, a.k.cfg.MaxMessage, syscall.EMSGSIZE))
		return btl.Broken
	}
	charge := sctpsock.Charge(size, a.fragment)
	if a.refused || !a.k.fits(a, charge) {
		return a.busy(charge)
	}
	a.k.gather(head, f, size)
	info := sctpsock.SendInfo{Assoc: a.id, Stream: stream, PPID: ppid, AckNow: stream == 0 || a.k.scarce(a, charge)}
	switch errno := a.k.sock.Send(info); errno {
	case 0:
		a.sent++
		a.k.spend(a, size, charge)
		return btl.Done
	case syscall.EAGAIN, syscall.ENOBUFS, syscall.ENOMEM:
		a.k.watch.Write(true)
		return a.busy(charge)
	case syscall.ESHUTDOWN, syscall.EPIPE:
		if a.k.cfg.Autoclose > 0 {
			return a.busy(charge) // it was idle too long; a notification is about to tell its end
		}
		fallthrough
	default:
		a.breakOff(fmt.Errorf("sendmsg: %w", errno))
		return btl.Broken
	}
}

// Keep implements [stack.Association]. The kernel has copied all that it took.
func (a *association) Keep() {}

// busy refuses a message, and all others until Writable: a shorter one that fits
// must not overtake it.
func (a *association) busy(charge int) btl.Result {
	if !a.refused {
		a.refused, a.wanted = true, charge
		a.k.room.refused = append(a.k.room.refused, a)
	}
	return btl.Busy
}

// gather adds a message's pieces to the socket's vector, through one copy if
// there are more than fit.
func (k *kernel) gather(head []byte, f *btl.Frame, size int) {
	k.sock.Add(head)
	if f == nil {
		return
	}
	all := true
	f.Pieces(0, func(piece []byte) bool {
		all = k.sock.Add(piece)
		return all
	})
	if all {
		return
	}
	k.sock.Drop()
	if len(k.scratch) < size {
		k.scratch = make([]byte, size)
	}
	n := copy(k.scratch, head)
	f.CopyPayload(k.scratch[n:])
	k.sock.Add(k.scratch[:size])
}

// breakOff gives the association up from within a call of the transport's: Down
// follows from the loop.
func (a *association) breakOff(err error) {
	a.broken = true
	a.k.cfg.Loop.Post(func() {
		if !a.over {
			a.k.abort(a)
			a.down(err)
		}
	})
}

// changed: the association has ended, or the peer has begun another one in its
// place.
func (a *association) changed(n sctpsock.Notification) {
	switch n.State {
	case sctpsock.ShutdownDone:
		a.down(io.EOF)
	case sctpsock.CannotAssociate:
		a.down(syscall.ECONNREFUSED)
	case sctpsock.Restart:
		a.k.abort(a)
		a.down(fmt.Errorf("the peer has been restarted: %w", syscall.ECONNRESET))
	default:
		a.down(a.lost(n))
	}
}

// lost says why an association was lost. The kernel tells only the cause that the peer's
// ABORT names, if it names one. Otherwise a path that is down is taken for the reason.
func (a *association) lost(n sctpsock.Notification) error {
	switch {
	case n.Error != 0:
		return fmt.Errorf("the peer has aborted the association (cause %d of RFC 9260, section 3.3.10): %w", n.Error, syscall.ECONNRESET)
	case a.paths.anyDown():
		return syscall.ETIMEDOUT
	}
	return syscall.ECONNRESET
}

// down tells the handler that the association has ended.
func (a *association) down(err error) {
	h := a.handler
	a.end()
	h.Down(err)
}

// end forgets the association.
func (a *association) end() {
	a.stopTimer()
	a.over = true
	if a.k.assocs[a.id] == a {
		delete(a.k.assocs, a.id)
	}
	a.k.forgive(a)
}

func (a *association) stopTimer() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// Abort implements [stack.Association].
func (a *association) Abort() {
	if a.over {
		return
	}
	a.k.abort(a)
	a.end()
}

// Release implements [stack.Association]. The kernel shuts the association down once all is
// acknowledged, whether or not the socket is open.
func (a *association) Release() {
	if a.over {
		return
	}
	_ = a.k.sock.Shutdown(a.id) // it may be no more
	a.end()
}

// Trust implements [stack.Association]. What a stranger may leave unread is the
// kernel's to bound, by the socket's receive buffer.
func (a *association) Trust() {
	a.order.most = a.k.receiveBuffer
	a.setPriorities()
}

// Sever implements [stack.Association]. The kernel can not be made to fall silent. So this
// is like the end of the process: the kernel aborts, and both sides are told.
func (a *association) Sever() { a.k.abort(a) }
