//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/strandmp/strand/internal/sctpsock"
)

// room is the socket's send buffer, and who waits for a place in it. The rules
// are in the package's comment.
type room struct {
	shared  int // what dynamic thresholds give out
	least   int // what every peer may have, whatever the others have
	most    int // what one peer may have
	total   int // what all have
	excess  int // the sum of what each has beyond least
	refused []*association
	empties uint64         // how often the socket was read empty
	asking  []*association // the kernel is to be asked about these once the socket is empty
}

// An account is what one peer has of the room, in bytes as the kernel charges
// them.
type account struct {
	fragment   int // data in a chunk
	window     int // what the peer's SCTP takes even if its process does not, in bytes
	charged    int // sent and not known to be acknowledged
	afterwards int // of that, sent after the kernel was asked
	size       int // like charged, in bytes of messages
	sizeAfter  int // like afterwards, in bytes of messages
	asked      bool
	asking     bool   // in room.asking
	answered   uint64 // room.empties at the last answer
	refused    bool   // Busy was said and Writable is due
	wanted     int    // the charge of the message that was refused
}

// Shares of the send buffer, S, by which the rules go.
const (
	dynamicShare = 4   // S/4 by dynamic thresholds, and as much in equal parts
	leastShare   = 256 // S/256 for every peer, however many there are
	messageShare = 32  // S/32 for the longest message
)

// sizeRoom finds out how large the buffers are, and how long messages may be.
func (k *kernel) sizeRoom() error {
	buffer, err := k.sock.SendBuffer()
	if err != nil {
		return err
	}
	if k.receiveBuffer, err = k.sock.ReceiveBuffer(); err != nil {
		return err
	}
	if asked := cmp.Or(k.cfg.SendBuffer, defaultSendBuffer); buffer < 2*asked {
		k.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the system gives the socket a send buffer of %d bytes, %d were asked for: "+
			"few peers that do not read are enough to slow down the others (sysctl net.core.wmem_max=%d, and rmem_max)", buffer/2, asked, asked))
	}
	if asked := k.cfg.ReceiveBuffer; k.receiveBuffer < 2*asked {
		k.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the system gives the socket a receive buffer of %d bytes, %d were asked for (sysctl net.core.rmem_max=%d)",
			k.receiveBuffer/2, asked, asked))
	}
	k.room = room{empties: 1, shared: buffer / dynamicShare, least: buffer / leastShare, most: 2 * k.cfg.Outstanding}
	if k.cfg.Peers > 0 {
		k.room.least = max(k.room.least, k.room.shared/k.cfg.Peers)
	}
	k.longest = min(k.cfg.MaxMessage, chargedAtMost(buffer/messageShare), k.receiveBuffer/2/k.cfg.Streams)
	return nil
}

// chargedAtMost is how long a message may be that is charged with no more than charge,
// in chunks that any network takes. It is at least one chunk's worth.
func chargedAtMost(charge int) int {
	const chunk = 1400
	return max(charge/sctpsock.Charge(chunk, chunk), 1) * chunk
}

// limit is what a peer may have outstanding at the moment.
func (r *room) limit(a *association) int {
	return min(r.least+min(max(r.shared-r.excess, 0), a.window), r.most)
}

// charge changes what a peer has.
func (r *room) charge(a *association, by int) {
	before := max(a.charged-r.least, 0)
	a.charged += by
	r.total += by
	r.excess += max(a.charged-r.least, 0) - before
}

// fits reports whether a message may be sent. From half of the limit on it asks the
// kernel what was acknowledged, so that the answer is there before the limit is reached.
func (k *kernel) fits(a *association, charge int) bool {
	limit := k.room.limit(a)
	if a.charged+charge > limit/2 && a.charged > 0 {
		k.ask(a)
	}
	return a.charged == 0 || a.charged+charge <= limit
}

// scarce reports whether the kernel will be asked at the next message, if that is as
// long as this one.
func (k *kernel) scarce(a *association, charge int) bool {
	return a.charged+2*charge > k.room.limit(a)/2
}

// spend accounts for a message that the kernel has taken.
func (k *kernel) spend(a *association, size, charge int) {
	k.room.charge(a, charge)
	a.size += size
	a.afterwards += charge
	a.sizeAfter += size
}

// ask has the kernel say once when everything sent so far is acknowledged. If an answer
// to the question before may still be unread, it asks later (emptied).
func (k *kernel) ask(a *association) {
	if a.asked || a.asking || a.over {
		return
	}
	if a.answered == k.room.empties || a.midway {
		a.asking = true
		k.room.asking = append(k.room.asking, a)
		return
	}
	if err := k.sock.Subscribe(a.id, sctpsock.SenderDry, true); err != nil {
		return // it is no more, which a notification tells
	}
	a.asked = true
	a.afterwards, a.sizeAfter = 0, 0
}

// emptied: the socket was read empty, so no answer to an earlier question is left in
// it. Except: in the middle of a message the kernel holds answers back until the rest
// has come. For such an association ask goes on waiting.
func (k *kernel) emptied() {
	k.room.empties++
	waiting := k.room.asking
	k.room.asking = nil
	for i, a := range waiting {
		a.asking = false
		k.ask(a) // or it is entered again
		waiting[i] = nil
	}
	if k.room.asking == nil {
		k.room.asking = waiting[:0]
	}
}

// dry: at some time after the question the association had nothing outstanding. The
// kernel repeats this answer until it is told to stop. An answer that it gave before
// that must not be taken for one to the next question.
func (k *kernel) dry(a *association) {
	if !a.asked {
		return
	}
	a.asked, a.answered = false, k.room.empties
	_ = k.sock.Subscribe(a.id, sctpsock.SenderDry, false) // if it is no more a notification tells
	k.room.charge(a, a.afterwards-a.charged)
	a.size = a.sizeAfter
	a.measure()
	if a.charged > 0 {
		k.ask(a) // mostly nothing is outstanding still, and the kernel says so at once
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
		case a.charged > 0 && a.charged+a.wanted > k.room.limit(a):
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
	k.room.charge(a, -a.charged)
	a.account = account{}
	gone := func(b *association) bool { return b == a }
	k.room.refused = slices.DeleteFunc(k.room.refused, gone)
	k.room.asking = slices.DeleteFunc(k.room.asking, gone)
}

// Unsent implements [stack.Association]. What was taken is the kernel's.
func (a *association) Unsent() int { return 0 }

// Flush implements [stack.Association]: nothing is held back.
func (a *association) Flush() {}

// Queued implements [stack.Association].
func (a *association) Queued() int {
	if a.size > 0 {
		a.k.ask(a)
	}
	return a.size
}
