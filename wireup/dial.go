package wireup

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/overdue"
)

// A dial makes a connection for an endpoint: as many attempts as the parameters allow, one
// after the other.
type dial struct {
	c      *Conn
	failed attempts
	since  int64 // when the first one began

	p         *Pending             // the present attempt, nil between two
	risen     bool                 // it has come through
	connector *handshake.Connector // nil until the key of both ranks is known
	epoch     uint32
	timer     btl.Timer
	pause     btl.Timer
	barred    int64 // since when another connection with the peer is in the way; 0: none is
	doubt     error // what was wrong with a message that may have been anybody's
}

// crossedPause is the time between two looks at whether a connection with the peer that is
// in the way is still there.
const crossedPause = 20 * time.Millisecond

// resting: no attempt is under way at the moment.
func (d *dial) resting() bool { return d.p == nil }

// proved: the peer may count the present attempt as made.
func (d *dial) proved() bool { return d.connector != nil && d.connector.Proved() }

// phase names what the dial is at, for messages.
func (d *dial) phase() string {
	if d.risen {
		return "handshake"
	}
	return "connecting"
}

// start begins an attempt.
func (d *dial) start() {
	c, m := d.c, d.c.m
	d.pause, d.doubt = nil, nil
	d.forget()
	if d.barred == 0 {
		if d.failed.Count() == 0 {
			d.since = m.loop.Now()
		}
		c.slot.epoch++
		d.epoch = c.slot.epoch
		c.enter(Connecting, btl.LogInfo, c.way.Describe(), d.epoch,
			fmt.Sprintf(", attempt %d of %d", d.failed.Count()+1, m.Retries))
	}
	p := &Pending{m: m, owner: d}
	link, err := m.transport.Dial(p, c.way)
	if err != nil {
		p.owner = nil // what the transport still tells of it must not reach the next attempt
	}
	if errors.Is(err, syscall.EISCONN) && d.stillWaits() {
		// Either the peer's attempt has come first: it proves itself and takes the place of
		// this dial, or it is dropped. Or a connection that we have left is not over yet: it
		// will end. Neither is a failure of this attempt.
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
	p.link, d.p = link, p
	if !m.SelfTimed {
		d.limit(m.ConnectTimeout)
	}
}

// stillWaits reports whether the connection that is in the way of an attempt has time left to go.
// It has as long as an attempt may take.
func (d *dial) stillWaits() bool {
	now := d.c.m.loop.Now()
	if d.barred == 0 {
		d.barred = max(now, 1)
	}
	return now-d.barred < int64(d.c.m.ConnectTimeout)
}

// limit bounds the time of the present step.
func (d *dial) limit(t time.Duration) {
	d.stopTimer()
	d.timer = overdue.After(d.c.m.loop, t, func() {
		err := fmt.Errorf("no answer in %v: %w", t, syscall.ETIMEDOUT)
		if d.doubt != nil {
			err = &unprovedError{t, d.doubt}
		}
		d.fail(err)
	})
}

// An unprovedError: nothing came in time but a message that may have been anybody's.
type unprovedError struct {
	in    time.Duration
	doubt error // what was wrong with it
}

func (e *unprovedError) Error() string {
	return fmt.Sprintf("no answer in %v, but for one that proves nothing (%v): %v", e.in, e.doubt, syscall.ETIMEDOUT)
}

func (e *unprovedError) Unwrap() []error { return []error{e.doubt, syscall.ETIMEDOUT} }

// up begins the handshake.
func (d *dial) up() {
	c, m, p := d.c, d.c.m, d.p
	d.limit(m.HandshakeTimeout)
	d.risen = true
	local, remote := p.link.Addresses()
	c.enter(ConnectAck, btl.LogDebug, local+" → "+remote, d.epoch, "")
	p.awaitKey(c.slot.key.rank, func(key []byte, err error) {
		if err == nil {
			err = d.greet(key)
		}
		if err != nil {
			d.fail(err)
		}
	})
}

// greet says the first word.
func (d *dial) greet(key []byte) error {
	c, m := d.c, d.c.m
	d.connector = m.identity().NewConnector(handshake.Request{
		From: m.host.Rank(), To: c.slot.key.rank,
		Epoch: d.epoch, Known: c.slot.known,
		Path: c.slot.key.path, Target: d.p.link.Target(),
	}, key, m.ourGreeting(), binding(d.p.link), handshake.NewNonce())
	if err := d.p.say(d.connector.Hello()); err != nil {
		return err
	}
	d.p.insist()
	return nil
}

func (d *dial) need() int {
	if d.connector == nil {
		return 0
	}
	return d.connector.Need()
}

// bytes hears the acceptor's answers.
func (d *dial) bytes(b []byte) {
	if d.risen && d.c.m.Merges && handshake.IsHello(b) {
		d.crossed(b)
		return
	}
	if d.connector == nil {
		d.fail(fmt.Errorf("%w: it speaks before it is spoken to", handshake.ErrMagic))
		return
	}
	out, done, err := d.connector.Feed(b)
	if err == nil {
		err = d.p.say(out)
	}
	switch {
	case err != nil:
		d.fail(err)
	case done:
		d.succeed()
	}
}

func (d *dial) message(b []byte) bool {
	if d.connector == nil {
		return false
	}
	before := *d.connector
	out, done, err := d.connector.Feed(b)
	if refused, ok := errors.AsType[*handshake.RefusedError](err); ok {
		d.fail(refused)
		return true
	}
	if err != nil || !done && len(out) == 0 {
		*d.connector, d.doubt = before, err
		return false
	}
	if done {
		d.p.said = nil // nothing is asked of us any more
		d.succeed()
		return true
	}
	_ = d.p.say(out)
	d.p.insist()
	return true
}

// crossed: both sides have dialled, and the transport has made one connection of the two
// attempts, with a connector at either end. The lower rank stays the connector; the higher one
// becomes the acceptor.
func (d *dial) crossed(hello []byte) {
	if d.c.m.host.Rank() < d.c.slot.key.rank {
		return // its hello is not answered; it will answer ours
	}
	p := d.p
	d.stopTimer()
	d.p = nil // as between two attempts: there is room for the peer's
	p.giveUpKey()
	d.forget()
	v := d.c.m.visit(p, p.link.Target())
	v.instead = d
	v.bytes(hello)
}

// ended: there is no connection any more, or never was.
func (d *dial) ended(err error) { d.fail(err) }

func (d *dial) succeed() {
	c := d.c
	g, err := c.m.greeted(c.Rank(), d.connector.Peer())
	if err != nil {
		d.fail(err)
		return
	}
	p, session := d.p, d.connector.Session()
	d.stopTimer()
	d.p = nil
	p.release()
	if v := c.slot.takeReserve(); v != nil {
		v.refuse(handshake.Duplicate, "the other attempt has succeeded")
	}
	c.prepare(p.link, true)
	c.establish(p.link, nil, d.epoch, g, session)
}

// fail ends the present attempt. It may make up-calls, so only calls of the loop use it.
func (d *dial) fail(err error) {
	phase := d.phase()
	d.failed.Add(d.explain(phase, err))
	d.end()
	if d.c.slot.useReserve() {
		return // this dial was given up for the peer's connection
	}
	if d.failed.Count() >= d.c.m.Retries || final(err) && !unproved(err) {
		d.giveUp(phase)
		return
	}
	d.retry()
}

// retry starts the next attempt a little later.
func (d *dial) retry() {
	m, tries := d.c.m, d.failed.Count()
	if tries >= m.Retries {
		phase := d.phase()
		d.pause = m.loop.After(0, func() { d.giveUp(phase) })
		return
	}
	wait := d.failed.Pause()
	d.c.tell(btl.LogInfo, "not connected", d.c.Desc(), d.epoch,
		fmt.Sprintf(", attempt %d of %d: %v; next in %v", tries, m.Retries, d.failed.Last(), wait))
	d.pause = m.loop.After(wait, d.start)
}

func (d *dial) giveUp(phase string) {
	c := d.c
	d.failed.Took = time.Duration(c.m.loop.Now() - d.since)
	c.Down(c.Error(phase, &d.failed))
}

// explain says what it means that the peer has ended the present attempt.
func (d *dial) explain(phase string, err error) error {
	reset := errors.Is(err, syscall.ECONNRESET)
	switch {
	case phase != "handshake" || !reset && !errors.Is(err, io.EOF):
		return err
	case d.connector == nil:
		return fmt.Errorf("the peer has closed the connection before anything was said: %w", err)
	case d.connector.Midst():
		return fmt.Errorf("the connection has ended in the midst of an answer: %w", err)
	case d.proved():
		return errors.New("the peer has closed the connection instead of accepting it")
	case reset:
		return fmt.Errorf("%w: %w", errWordless, err)
	}
	return errWordless
}

var errWordless = errors.New("whoever listens there has closed the connection without a word, as to one that is not of its job, or while it had no place for another one")

func (d *dial) stopTimer() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// end ends the present attempt, if there is one.
func (d *dial) end() {
	d.stopTimer()
	if p := d.p; p != nil {
		d.p = nil
		p.close()
	}
	d.forget()
}

// forget forgets how far the present attempt has come.
func (d *dial) forget() { d.risen, d.connector = false, nil }

// cancel gives up for good.
func (d *dial) cancel() {
	d.end()
	if d.pause != nil {
		d.pause.Stop()
		d.pause = nil
	}
}
