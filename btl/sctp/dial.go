package sctp

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/wireup"
)

// A dial makes a connection for an endpoint: as many attempts as the parameters
// allow, one after the other.
type dial struct {
	bystander
	ep     *endpoint
	failed wireup.Attempts
	since  int64 // when the first began

	link      *link // of the present attempt, nil between two
	connector *handshake.Connector
	control   control
	epoch     uint32
	timer     btl.Timer
	pause     btl.Timer
	barred    int64 // since when another association with the peer is in the way; 0: none is
}

// crossedPause is the time between two looks at whether an association with the
// peer that is in the way is still there.
const crossedPause = 20 * time.Millisecond

// resting: no attempt is under way at the moment.
func (d *dial) resting() bool { return d.link == nil }

// proved: the peer may count the present attempt as made.
func (d *dial) proved() bool { return d.connector != nil && d.connector.Proved() }

// phase names what the dial is at, for messages.
func (d *dial) phase() string {
	if d.connector != nil {
		return "handshake"
	}
	return "connecting"
}

// start begins an attempt.
func (d *dial) start() {
	ep, m := d.ep, d.ep.m
	d.pause, d.connector = nil, nil
	ep.state = stateConnecting
	if d.failed.Count() == 0 && d.barred == 0 {
		d.since = m.loop.Now()
	}
	if d.barred == 0 {
		ep.slot.epoch++
		d.epoch = ep.slot.epoch
		m.host.Logf(btl.LogInfo, "sctp: rank %d → rank %d: connecting %s", m.host.Rank(), ep.slot.rank, ep.route.describe())
	}
	l := &link{owner: d}
	a, err := m.stack.Associate(m.forStack(ep.route), l)
	if errors.Is(err, syscall.EISCONN) && d.stillWaits() {
		// The peer's attempt has come first, or an association that we have left is
		// not over yet. The one proves itself and takes the place of this dial, or is
		// dropped; the other ends. Neither is a failure of this attempt.
		d.pause = m.loop.After(crossedPause, d.start)
		return
	}
	d.barred = 0
	if err != nil {
		// Send may be what has called: no up-call from here.
		d.failed.Add(err)
		d.retry()
		return
	}
	l.Association = a
	d.link = l
}

// stillWaits reports whether what is in the way of an attempt has time left to go.
// Either end of it is over within the time of a handshake.
func (d *dial) stillWaits() bool {
	now := d.ep.m.loop.Now()
	if d.barred == 0 {
		d.barred = max(now, 1)
	}
	return now-d.barred < int64(d.ep.m.cfg.connectTimeout)
}

// up begins the handshake: the association is there.
func (d *dial) up() {
	ep, m := d.ep, d.ep.m
	d.timer = overdue.After(m.loop, m.cfg.handshakeTimeout, func() {
		d.fail(fmt.Errorf("no answer in %v: %w", m.cfg.handshakeTimeout, syscall.ETIMEDOUT))
	})
	d.connector = m.identity().NewConnector(handshake.Request{
		From: m.host.Rank(), To: ep.slot.rank,
		Epoch: d.epoch, Known: ep.slot.known,
		Target: netip.AddrPortFrom(d.link.Remote().Addr(), ep.route.port),
	}, m.ourGreeting(), handshake.NewNonce())
	if err := d.link.say(d.connector.Hello(nil)); err != nil {
		d.fail(err)
	}
}

// receive hears the acceptor's answers.
func (d *dial) receive(stream uint16, ppid uint32, piece []byte, end bool) {
	b, whole, err := d.control.handshake(stream, ppid, piece, end)
	if err == nil && d.connector == nil {
		err = fmt.Errorf("%w: it speaks before it is spoken to", handshake.ErrMagic)
	}
	switch {
	case err != nil:
		d.fail(err)
		return
	case !whole:
		return
	case handshake.IsHello(b):
		d.crossed(b)
		return
	}
	out, done, err := d.connector.Feed(b, nil)
	if err == nil {
		err = d.link.say(out)
	}
	switch {
	case err != nil:
		d.fail(err)
	case done:
		d.succeed()
	}
}

// crossed: both sides have associated and the stack has made one association of
// the two attempts, with a connector at either end. The lower rank remains one.
func (d *dial) crossed(hello []byte) {
	m := d.ep.m
	if m.host.Rank() < d.ep.slot.rank {
		return // its hello is not answered; it will answer ours
	}
	l := d.link
	d.stopTimer()
	d.link, d.connector = nil, nil // as between two attempts: there is room for the peer's
	in := m.greet(l)
	in.instead = d
	in.receive(controlStream, ppidHandshake, hello, true)
}

// down: there is no association any more, or never was.
func (d *dial) down(err error) {
	d.link = nil
	d.fail(err)
}

func (d *dial) succeed() {
	ep := d.ep
	g, err := decodeGreeting(d.connector.Peer())
	if err != nil {
		d.fail(err)
		return
	}
	d.stopTimer()
	l := d.link
	d.link = nil
	if in := ep.slot.takeReserve(); in != nil {
		in.refuse(handshake.Duplicate, "the other attempt has succeeded")
	}
	if l.Send(controlStream, ppidReady, []byte{0}, nil) == btl.Busy {
		d.link = l
		d.fail(errNoRoom)
		return
	}
	ep.opened = true
	ep.connect(l, d.epoch, g)
}

// fail ends the present attempt from a call of the loop's or of the stack's.
func (d *dial) fail(err error) {
	phase := d.phase()
	d.failed.Add(d.explain(phase, err))
	d.end()
	if d.ep.slot.useReserve() {
		return // which has given up this dial for the peer's connection
	}
	if d.failed.Count() >= d.ep.m.cfg.connectRetries || hopeless(err) {
		d.giveUp(phase)
		return
	}
	d.retry()
}

// retry starts the next attempt a little later.
func (d *dial) retry() {
	m, tries := d.ep.m, d.failed.Count()
	if tries >= m.cfg.connectRetries {
		phase := d.phase()
		d.pause = m.loop.After(0, func() { d.giveUp(phase) })
		return
	}
	wait := d.failed.Pause()
	m.host.Logf(btl.LogInfo, "sctp: rank %d → rank %d: attempt %d of %d failed: %v, next in %v",
		m.host.Rank(), d.ep.slot.rank, tries, m.cfg.connectRetries, d.failed.Last(), wait)
	d.pause = m.loop.After(wait, d.start)
}

func (d *dial) giveUp(phase string) {
	ep := d.ep
	d.failed.Took = time.Duration(ep.m.loop.Now() - d.since)
	ep.fail(ep.connError(phase, &d.failed))
}

// explain says what it means that the peer has ended the present attempt.
func (d *dial) explain(phase string, err error) error {
	switch {
	case phase != "handshake" || !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF):
		return err
	case d.proved():
		return errors.New("the peer has aborted instead of accepting")
	}
	return fmt.Errorf("whoever listens there has aborted without a word, it does not take this for a process of its job: %w", err)
}

func (d *dial) stopTimer() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// end aborts the association of the present attempt, if there is one.
func (d *dial) end() {
	d.stopTimer()
	if d.link != nil {
		d.link.Abort()
		d.link = nil
	}
	d.connector = nil
	d.control = control{}
}

// cancel gives up for good.
func (d *dial) cancel() {
	d.end()
	if d.pause != nil {
		d.pause.Stop()
		d.pause = nil
	}
}
