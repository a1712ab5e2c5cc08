//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/sctpsock"
)

// room is the socket's send buffer, and who waits for a place in it. The rules
// are in the package's comment.
type room struct {
	shared  int // what dynamic thresholds give out
	least   int // what every peer may have
	most    int // what one peer may have
	total   int // what all have
	refused []*association
}

// An account is what one peer has of the room, in bytes as the kernel charges
// them.
type account struct {
	fragment   int // data in a chunk
	charged    int // sent and not known to be acknowledged
	afterwards int // of that, sent after the kernel was asked
	size       int // the same in bytes of messages
	sizeAfter  int
	asked      bool
	subscribed bool
	refused    bool // Busy was said and Writable is due
	wanted     int  // what the message takes that was refused
}

// sizeRoom finds out how large the send buffer is.
func (k *kernel) sizeRoom() error {
	buffer, err := k.sock.SendBuffer()
	if err != nil {
		return err
	}
	if buffer < k.cfg.MaxMessage {
		return fmt.Errorf("a send buffer of %d bytes, and messages of up to %d (btl_sctp_max_frame): raise sysctl net.core.wmem_max: %w",
			buffer, k.cfg.MaxMessage, syscall.EMSGSIZE)
	}
	if asked := orDefault(k.cfg.SendBuffer); buffer < 2*asked {
		k.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the system gives the socket a send buffer of %d bytes, %d were asked for: "+
			"few peers that do not read are enough to slow down the others (sysctl net.core.wmem_max=%d, and rmem_max)", buffer/2, asked, asked))
	}
	k.room = room{shared: buffer / 4, least: buffer / 256, most: 2 * k.cfg.Outstanding}
	return nil
}

// limit is what a peer may have outstanding at the moment.
func (r *room) limit() int { return min(max(r.shared-r.total, r.least), r.most) }

// fits reports whether a message may be sent, and asks the kernel what was
// acknowledged in time before it may not.
func (k *kernel) fits(a *association, charge int) bool {
	limit := k.room.limit()
	if a.charged+charge > limit/2 && a.charged > 0 {
		k.ask(a)
	}
	return a.charged == 0 || a.charged+charge <= limit
}

// scarce reports whether, behind this message, another one of its kind will have
// the kernel asked.
func (k *kernel) scarce(a *association, charge int) bool {
	return a.charged+2*charge > k.room.limit()/2
}

// spend accounts for a message that the kernel has taken.
func (k *kernel) spend(a *association, size, charge int) {
	a.charged += charge
	a.size += size
	a.afterwards += charge
	a.sizeAfter += size
	k.room.total += charge
}

// ask has the kernel say when everything sent so far is acknowledged.
func (k *kernel) ask(a *association) {
	if a.asked || a.over {
		return
	}
	if err := k.sock.Subscribe(a.id, sctpsock.SenderDry, true); err != nil {
		return // it is no more, which a notification tells
	}
	a.asked, a.subscribed = true, true
	a.afterwards, a.sizeAfter = 0, 0
	if fragment := a.fragmentSize(); fragment > 0 {
		a.fragment = fragment // paths change
	}
}

// dry: at some time after it was asked, the kernel had nothing outstanding.
func (k *kernel) dry(a *association) {
	if !a.asked {
		return // from before the subscription ended
	}
	a.asked = false
	k.room.total -= a.charged - a.afterwards
	a.charged, a.size = a.afterwards, a.sizeAfter
	if a.charged > 0 {
		k.ask(a) // mostly it is dry still, and says so at once
	} else if a.subscribed {
		a.subscribed = false
		_ = k.sock.Subscribe(a.id, sctpsock.SenderDry, false) // else it only says so too often
	}
	k.admit()
}

// admit tells those whom Send has refused and who have room now.
func (k *kernel) admit() {
	waiting := k.room.refused
	k.room.refused = nil
	for i, a := range waiting {
		switch {
		case a.over:
		case a.charged > 0 && a.charged+a.wanted > k.room.limit():
			k.room.refused = append(k.room.refused, a)
		default:
			a.refused = false
			a.handler.Writable()
		}
		if k.closed {
			return
		}
		waiting[i] = nil
	}
	if k.room.refused == nil {
		k.room.refused = waiting[:0]
	}
}

// roomInSocket: the kernel's buffer is not full any more.
func (k *kernel) roomInSocket() {
	k.watch.Write(false)
	k.admit()
}

// forgive takes an association that has ended out of the account.
func (k *kernel) forgive(a *association) {
	k.room.total -= a.charged
	a.account = account{fragment: a.fragment}
	k.room.refused = slices.DeleteFunc(k.room.refused, func(b *association) bool { return b == a })
}

// Queued implements [stack.Association].
func (a *association) Queued() int {
	if a.size > 0 {
		a.k.ask(a)
	}
	return a.size
}
