package userstack

import (
	"fmt"
	"net/netip"
	"runtime"
	"syscall"

	"github.com/pion/sctp"

	"github.com/strandmp/strand/btl"
)

// Send implements [stack.Association].
func (a *association) Send(stream uint16, ppid uint32, head []byte, f *btl.Frame) btl.Result {
	switch {
	case a.ended || a.reason != nil:
		return btl.Broken
	case a.pion == nil:
		a.refused = true
		return btl.Busy
	case a.may <= 0:
		if a.may = a.s.cfg.Outstanding - a.pion.BufferedAmount(); a.may <= 0 {
			a.refused = true
			a.s.kicked = yields
			return btl.Busy
		}
	}
	b := head
	if f != nil && f.Size > 0 {
		if len(head)+f.Size > len(a.s.out) {
			return a.broken(fmt.Errorf("message of %d bytes, at most %d are allowed: %w", len(head)+f.Size, len(a.s.out), syscall.EMSGSIZE))
		}
		n := copy(a.s.out, head)
		b = a.s.out[:n+f.CopyPayload(a.s.out[n:])]
	}
	s, err := a.stream(stream)
	if err == nil {
		a.conn.urge.most.Add(uint64(len(b)))
		_, err = s.pion.WriteSCTP(b, sctp.PayloadProtocolIdentifier(ppid))
		a.conn.urge.least.Add(uint64(len(b)))
	}
	if err != nil {
		return a.broken(err)
	}
	a.may -= len(b)
	a.s.kicked = yields
	return btl.Done
}

// broken takes note of a failure that Send has found; Down follows from the loop.
func (a *association) broken(err error) btl.Result {
	a.reason = err
	a.endConn(err)
	return btl.Broken
}

// Poll implements [stack.Association].
func (a *association) Poll() bool {
	did := a.s.Progress()
	if a.ended {
		return did
	}
	if a.so.read() {
		did = true
		a.s.Progress()
	}
	return did
}

// Streams implements [stack.Association].
func (a *association) Streams() int {
	return int(min(a.ours.out, a.ours.in, a.theirs.out, a.theirs.in))
}

// Window implements [stack.Association].
func (a *association) Window() int { return int(a.theirs.window) }

// Queued implements [stack.Association].
func (a *association) Queued() int {
	if a.pion == nil || a.ended {
		return 0
	}
	return a.pion.BufferedAmount()
}

// Remote implements [stack.Association].
func (a *association) Remote() netip.AddrPort { return a.remote }

// Addresses implements [stack.Association].
func (a *association) Addresses() (local, remote string) {
	return a.so.local.String(), a.remote.String()
}

// Paths implements [stack.Association]: there is one.
func (a *association) Paths() []btl.PathState {
	return []btl.PathState{{Desc: a.so.local.String() + " → " + a.remote.String(), Up: !a.ended, Since: a.since}}
}

// Calls implements [stack.Association]: packets.
func (a *association) Calls() (sent, received uint64) {
	if a.conn == nil {
		return 0, 0
	}
	return a.conn.sent.Load(), a.pushed
}

// Abort implements [stack.Association].
func (a *association) Abort() {
	if a.ended {
		return
	}
	if a.theirs.tag != 0 && !a.severed.Load() {
		a.s.send(a.so, abortPacket(a.theirs.tag, 0), a)
	}
	a.forget()
}

// Release implements [stack.Association]: there is no system to go on with it.
func (a *association) Release() { a.Abort() }

// Sever implements [stack.Association].
func (a *association) Sever() { a.severed.Store(true) }

// yields is how many polls let pion's goroutines in after they were given something
// to do. One wakes the next, each on another thread perhaps. With few yields the
// waiter is in their way; with very many it is late itself.
const yields = 64

// letPionIn gives the processor to pion's goroutines for a moment: what they have
// to do is there, and what the engine waits for comes from them.
func (s *Stack) letPionIn() {
	if s.kicked > 0 {
		s.kicked--
		runtime.Gosched()
	}
}

// help tells the loop that pion works for one association more, or less.
func (s *Stack) help(delta int) {
	if s.helped != nil {
		s.helped.Helpers(delta)
	}
}
