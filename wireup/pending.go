package wireup

import (
	"bytes"
	"errors"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
)

// A Pending is a connection that is no endpoint's yet: an attempt of ours, or one that
// somebody has made to us. The transport tells it what happens, from the loop.
type Pending struct {
	m     *Manager
	link  Link
	owner owner // nil once it is an endpoint's, or over

	// While it waits for a key.
	asks  *asking
	found func(key []byte, err error)

	// Where messages may be lost: the last one that was sent, and those that were taken.
	said   []byte
	taken  [][]byte
	wait   time.Duration
	repeat btl.Timer
	asked  int // times, by Again
}

// An owner is one of the two sides of a handshake.
type owner interface {
	up()
	bytes(b []byte)
	// message takes a message that may be anybody's, and reports whether it was of use.
	message(b []byte) bool
	need() int
	ended(err error)
}

// Link is the connection.
func (p *Pending) Link() Link { return p.link }

// Up tells that an attempt of ours has come through: the peer's system has answered. The
// handshake begins.
func (p *Pending) Up() {
	p.mustHaveLink("Up")
	if p.owner != nil {
		p.owner.up()
	}
}

// mustHaveLink panics if the transport makes the call before Dial has returned: a mistake of the
// transport's.
func (p *Pending) mustHaveLink(call string) {
	if p.owner != nil && p.link == nil {
		panic("wireup: Pending." + call + " was called from within Transport.Dial, which is to post it (btl.Loop.Post), or to return the error")
	}
}

// Need is how many bytes a stream may hand over at most. Bytes beyond them may not be the
// handshake's. It is at least 1, so that a read of so many notices the stream's end.
func (p *Pending) Need() int {
	if p.owner == nil {
		return 1
	}
	return max(p.owner.need(), 1)
}

// Bytes hands over what has arrived: any piece of a stream, of at most Need bytes, or a
// whole message. B is not needed after the call. Afterwards the link may be an endpoint's, or
// over.
//
// Where messages may be lost ([Config.Repeat]) an endpoint goes on to hand over those of the
// handshake: the peer asks again for what it has missed.
func (p *Pending) Bytes(b []byte) {
	switch {
	case p.m.Repeat > 0:
		p.message(b)
	case p.owner != nil:
		p.owner.bytes(b)
	}
}

// Take is Bytes for a piece of a stream of any length. It hands over the bytes of the handshake and
// returns the rest. If the link is an endpoint's by then, the rest is the beginning of its first
// frame. If the link is over, the rest is to be dropped.
func (p *Pending) Take(b []byte) (rest []byte) {
	for len(b) > 0 && p.owner != nil {
		n := min(len(b), p.Need())
		p.Bytes(b[:n])
		b = b[n:]
	}
	return b
}

// Ended tells that the connection is over, or never came to be, and why: [io.EOF] if the
// peer has ended it.
func (p *Pending) Ended(err error) {
	p.mustHaveLink("Ended")
	if p.owner != nil {
		p.owner.ended(err)
	}
}

// Again sends the last message again, at once. It is for a transport that was asked for a cookie
// and has it now ([Manager.Cookie]). Anybody may ask: after a few calls for one attempt Again does
// nothing, and the message goes out with its next repetition.
func (p *Pending) Again() {
	if p.owner != nil && p.said != nil && p.asked < mostAsked {
		p.asked++
		p.resend()
	}
}

// mostAsked bounds the calls of Again that take effect for one attempt. One is enough mostly; the
// others are for answers that are lost, and for keys of cookies that are renewed meanwhile.
const mostAsked = 4

// say sends a message of the handshake.
func (p *Pending) say(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if p.m.Repeat > 0 {
		p.said = bytes.Clone(b)
	}
	err := p.link.Send(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		// The peer has gone. What it has said before, a refusal perhaps, or its end, is still to be read, and says more.
		return nil
	}
	return err
}

// resend sends the last message again. An error has the effect of a loss: the next repetition
// comes.
func (p *Pending) resend() { _ = p.link.Send(p.said) }

// insist sends the last message again and again, until relax.
func (p *Pending) insist() {
	p.relax()
	if p.m.Repeat == 0 {
		return
	}
	p.wait = p.m.Repeat
	p.repeat = p.m.loop.After(p.wait, p.remind)
}

const slowest = 8 // times the first pause between two repetitions

func (p *Pending) remind() {
	p.resend()
	p.wait = min(2*p.wait, slowest*p.m.Repeat)
	p.repeat = p.m.loop.After(p.wait, p.remind)
}

// relax ends the repetitions.
func (p *Pending) relax() {
	if p.repeat != nil {
		p.repeat.Stop()
		p.repeat = nil
	}
}

// message takes a message that may have come before, or out of its turn, or from anybody.
// Only what proves to be the peer's has any effect.
func (p *Pending) message(b []byte) {
	for i, t := range p.taken {
		if bytes.Equal(t, b) {
			if i == len(p.taken)-1 && p.said != nil {
				p.resend() // the answer was lost
			}
			return
		}
	}
	if p.owner == nil || len(b) > MaxMessage {
		return
	}
	own := bytes.Clone(b) // to know it if it comes again; b is the caller's
	at := len(p.taken)
	p.taken = append(p.taken, own)
	if !p.owner.message(own) {
		p.taken = p.taken[:at]
	}
}

// close ends the connection without a word.
func (p *Pending) close() {
	p.release()
	p.link.Abort()
}

// release notes that the link is an endpoint's now, or over.
func (p *Pending) release() {
	p.relax()
	p.giveUpKey()
	p.owner = nil
}

// leave says a last word and ends the connection in order.
func (p *Pending) leave(b []byte) {
	p.release()
	if p.m.Repeat == 0 {
		p.link.Leave(b)
		return
	}
	// The word may be lost: the peer asks for it until it has it.
	_ = p.say(b)
	p.m.Leave(parting{p})
}

// A parting is a refusal that may have to be said again.
type parting struct{ p *Pending }

func (parting) Work() bool      { return false }
func (parting) Confirmed() bool { return true }
func (l parting) End()          { l.p.link.Leave(nil) }
