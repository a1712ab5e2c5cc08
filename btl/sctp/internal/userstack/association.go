package userstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pion/sctp"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/rawio"
)

// An association is this stack's end of one with one peer. Only the engine touches
// its fields, except the atomic ones.
type association struct {
	s      *Stack
	so     *socket
	h      stack.Handler
	remote netip.AddrPort
	to     rawio.Destination
	mtu    int

	ours   opening // with the tag and the TSN that this side has chosen
	theirs opening // once it is known
	setup  *setup  // until the association is established, if we have begun it

	pion    *sctp.Association // nil until it is established
	conn    *conn
	streams map[uint16]*stream
	fresh   []*stream // streams that packets have come for
	pushed  uint64    // packets given to pion
	held    bool      // one more packet has come, and the ring had no room for it
	refused bool      // Busy was returned and Writable is due
	may     int       // bytes to send before pion is asked again how much is under way
	ended   bool
	reason  error // why it is to end
	beat    beat
	// againTimer runs while packets are kept that may have to be sent again. Tending says
	// so to other goroutines.
	againTimer btl.Timer
	tending    atomic.Bool
	timeouts   timeouts
	since      time.Time
	trusted    bool
	strange    int // bytes that came before the peer was trusted

	listed  atomic.Bool // among those that have news
	left    atomic.Bool // pion has closed its connection
	severed atomic.Bool
}

// A stream is one of the streams of an association.
type stream struct {
	id    uint16
	pion  *sctp.Stream
	fresh bool
}

// establish hands the association over to pion.
func (a *association) establish() error {
	a.conn = newConn(a)
	a.streams = make(map[uint16]*stream)
	a.since = time.Now()
	local, remote := a.ours.init(), a.theirs.init()
	opts := append(a.s.cfg.options(a.mtu), sctp.WithLoggerFactory(&a.timeouts), sctp.WithNetConn(a.conn), sctp.WithSNAP(local, remote))
	p, err := sctp.ClientContext(context.Background(), opts...)
	if err != nil {
		return fmt.Errorf("pion/sctp: %w", err)
	}
	a.pion = p
	a.conn.urge.assoc.Store(p)
	a.setup = nil
	a.s.supersede(a)
	a.s.help(1)
	a.heard()
	a.s.startBeats()
	return nil
}

const (
	// longestMessage that is handed over.
	longestMessage = 2 << 20
	// unproved is how much, in bytes, somebody may send before it is trusted.
	unproved = 32 << 10
)

// Trust implements [stack.Association].
func (a *association) Trust() { a.trusted = true }

// past is a deadline that makes pion's reads return at once if there is nothing.
var past = time.Unix(1, 0)

// stream opens a stream, or returns it.
func (a *association) stream(id uint16) (*stream, error) {
	if s := a.streams[id]; s != nil {
		return s, nil
	}
	p, err := a.pion.OpenStream(id, 0)
	if err != nil {
		return nil, err
	}
	// Reads must not wait, so the deadline is passed, for ever. But a goroutine of pion's
	// puts it into force. The reads below wait until that has run, or until there is a
	// message.
	if err := p.SetReadDeadline(past); err != nil {
		return nil, err
	}
	for {
		if _, _, err := p.ReadSCTP(nil); !errors.Is(err, io.ErrShortBuffer) {
			break
		}
	}
	s := &stream{id: id, pion: p}
	a.streams[id] = s
	return s, nil
}

// take gives pion a packet from the peer, and notes which streams it is for.
func (a *association) take(so *socket, b []byte) {
	if a.reason != nil || checkSum(b) != nil {
		return // damaged on its way, or forged by somebody who guesses: as if it were lost
	}
	a.heard()
	aborted, known, ours := false, true, false
	var sack []byte
	chunks(b, func(kind byte, c []byte) bool {
		switch kind {
		case chunkAbort:
			aborted = true
		case chunkData, chunkIData:
			known = known && a.expect(c)
		case chunkSack:
			sack = c
		case chunkInit, chunkInitAck, chunkCookieEcho, chunkCookieAck:
			ours = true // what sets associations up is not for pion
		}
		return true
	})
	if sack != nil && !ours {
		a.conn.again.acknowledged(sack)
	}
	switch {
	case ours:
	case aborted:
		a.finish(syscall.ECONNRESET)
	case !a.trusted && a.credit(len(b)):
		a.s.send(a.so, abortPacket(a.theirs.tag, 0), a)
		a.finish(fmt.Errorf("more than %d bytes before it has proved itself", unproved))
	case !known:
		a.s.send(a.so, abortPacket(a.theirs.tag, 0), a)
		a.finish(fmt.Errorf("%w: data on a stream beyond the %d that it may use", errForm, a.allowed()))
	case !a.conn.push(b):
		so.held, so.holder, a.held = append([]byte(nil), b...), a, true
	}
}

// credit counts what somebody sends that is not trusted, and reports whether it is
// too much.
func (a *association) credit(n int) bool {
	a.strange += n
	return a.strange > unproved
}

// expect notes that a stream has news, and reports whether there is that stream.
func (a *association) expect(c []byte) bool {
	if len(c) < chunkHead+6 {
		return true // pion refuses it
	}
	id := uint16(c[8])<<8 | uint16(c[9])
	if int(id) >= a.allowed() {
		return false
	}
	s, err := a.stream(id)
	if err == nil && !s.fresh {
		s.fresh = true
		a.fresh = append(a.fresh, s)
	}
	return true
}

// allowed is the number of streams that the peer may use: before it has proved itself
// only the first, so that there is no more than one for a stranger to open.
func (a *association) allowed() int {
	if !a.trusted {
		return 1
	}
	return a.Streams()
}

// news puts the association on the list of those that the engine has to look at.
// Any goroutine may call it.
func (a *association) news() {
	if !a.listed.Swap(true) {
		a.s.announce(a)
	}
}

// look hands over what has arrived and finds out whether there is room, or an end.
func (a *association) look() {
	if a.ended || a.pion == nil {
		return
	}
	if a.againTimer == nil && a.conn.again.some.Load() {
		a.sendAgain()
	}
	handled := a.conn.handled.Load()
	over := a.left.Load()
	for i := 0; i < len(a.fresh) && !a.ended; i++ {
		a.read(a.fresh[i])
	}
	if a.ended {
		return
	}
	if handled == a.pushed && !a.held {
		for _, s := range a.fresh {
			s.fresh = false
		}
		a.fresh = a.fresh[:0]
	}
	if over && (handled == a.pushed || a.reason != nil) {
		a.down()
		return
	}
	if a.refused && a.pion.BufferedAmount() <= a.s.cfg.Outstanding*3/4 {
		a.refused, a.may = false, 0
		a.h.Writable()
	}
}

// read hands over the messages of one stream.
func (a *association) read(s *stream) {
	for !a.ended {
		n, ppid, err := s.pion.ReadSCTP(a.s.message)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && n <= longestMessage:
			a.s.message = make([]byte, n) // the peer's frames are longer than ours
			continue
		case errors.Is(err, io.ErrShortBuffer):
			a.Abort()
			a.h.Down(fmt.Errorf("%w: message of %d bytes, at most %d are allowed", errForm, n, longestMessage))
			return
		case err != nil:
			return
		}
		a.h.Receive(s.id, uint32(ppid), a.s.message[:n], true)
	}
}

// finish begins the end: pion handles what it has, then Down follows.
func (a *association) finish(reason error) {
	if a.reason != nil || a.ended {
		return
	}
	a.reason = reason
	if a.pion == nil {
		a.forget()
		a.h.Down(reason)
		return
	}
	a.endConn(reason)
}

// endConn makes pion's reader leave. If that has left already, nobody else sees to it that
// Down follows.
func (a *association) endConn(reason error) {
	a.conn.end(reason)
	if a.left.Load() {
		a.news()
	}
}

// down ends the association: everything that had arrived is handed over.
func (a *association) down() {
	reason := a.reason
	if reason == nil {
		reason = io.EOF // pion has closed it, after SHUTDOWN
	}
	a.forget()
	a.h.Down(reason)
}

// forget takes the association out of all lists and ends pion's part of it.
func (a *association) forget() {
	if a.ended {
		return
	}
	a.ended = true
	if a.setup != nil {
		a.setup.stop()
		a.setup = nil
	}
	a.s.remove(a)
	if a.againTimer != nil {
		a.againTimer.Stop()
		a.againTimer = nil
	}
	if a.pion != nil {
		a.s.help(-1)
		a.conn.end(net.ErrClosed)
		_ = a.pion.Close() // waits for pion's reader, which waits for nobody
	}
}
