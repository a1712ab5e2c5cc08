package tcp

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/networks"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/rawio"
)

// A dial makes a connection for an endpoint: as many attempts as the parameters
// allow, one after the other.
type dial struct {
	ep     *endpoint
	failed networks.Attempts
	since  int64 // when the first one began

	talk      *talk // of the present attempt, nil between two
	connector *handshake.Connector
	epoch     uint32
	pause     btl.Timer
}

// resting: no attempt is under way at the moment.
func (d *dial) resting() bool { return d.talk == nil }

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
	ep.slot.epoch++
	d.epoch = ep.slot.epoch
	if d.failed.Count() == 0 {
		d.since = m.loop.Now()
	}
	ep.enter(stateConnecting, btl.LogInfo, ep.pair.describe(), d.epoch,
		fmt.Sprintf(", attempt %d of %d", d.failed.Count()+1, m.cfg.connectRetries))
	if err := d.open(); err != nil {
		// Send may be what has called: no up-call from here.
		d.end()
		d.failed.Add(err)
		d.retry()
	}
}

// open makes the socket and starts to connect it.
func (d *dial) open() error {
	m, p := d.ep.m, d.ep.pair
	fd, err := rawio.Stream(p.target())
	if err != nil {
		return err
	}
	d.talk = &talk{m: m, conn: rawio.NewConn(fd)}
	if err := m.tune(fd, p.Loopback || m.nearby(p.Remote.Addr())); err != nil {
		return err
	}
	if _, err := rawio.Connect(fd, p.Source(), p.target()); err != nil {
		return err
	}
	if d.talk.watch, err = m.loop.Watch(fd, d); err != nil {
		return err
	}
	d.talk.watch.Write(true) // which tells when it is connected
	d.talk.timer = overdue.After(m.loop, m.cfg.connectTimeout, func() {
		d.fail(fmt.Errorf("no answer in %v: %w", m.cfg.connectTimeout, syscall.ETIMEDOUT))
	})
	return nil
}

// Poll implements [btl.Handler].
func (d *dial) Poll(writable bool) bool {
	if d.talk == nil {
		return false
	}
	if d.connector == nil {
		if !writable {
			return false
		}
		if err := d.connected(); err != nil {
			d.fail(err)
		}
		return true
	}
	if writable {
		if err := d.talk.send(); err != nil {
			d.fail(err)
			return true
		}
	}
	return d.listen()
}

// connected begins the handshake.
func (d *dial) connected() error {
	ep, m := d.ep, d.ep.m
	fd := d.talk.conn.FD()
	if err := rawio.SocketError(fd); err != nil {
		return err
	}
	d.talk.conn = rawio.NewConn(fd) // now that both addresses are known
	d.talk.timer.Stop()
	d.talk.timer = overdue.After(m.loop, m.cfg.handshakeTimeout, func() {
		d.fail(fmt.Errorf("no answer in %v: %w", m.cfg.handshakeTimeout, syscall.ETIMEDOUT))
	})
	d.connector = m.identity().NewConnector(handshake.Request{
		From: m.host.Rank(), To: ep.slot.key.rank,
		Epoch: d.epoch, Known: ep.slot.known,
		Path: ep.slot.key.path, Target: ep.pair.target(),
	}, m.ourGreeting(), handshake.NewNonce())
	ep.enter(stateConnectAck, btl.LogDebug, fmt.Sprintf("%v → %v", rawio.LocalAddr(fd), ep.pair.target()), d.epoch, "")
	d.talk.out = d.connector.Hello(nil)
	return d.talk.send()
}

// listen reads the acceptor's answers.
func (d *dial) listen() bool {
	did := false
	for {
		b, err := d.talk.receive(d.connector.Need())
		if err != nil {
			d.fail(err)
			return true
		}
		if len(b) == 0 {
			return did
		}
		did = true
		out, done, err := d.connector.Feed(b, d.talk.out)
		d.talk.out = out
		if err == nil && !done {
			err = d.talk.send()
		}
		if err != nil {
			d.fail(err)
			return true
		}
		if done {
			d.succeed()
			return true
		}
	}
}

func (d *dial) succeed() {
	ep := d.ep
	g, err := decodeGreeting(d.connector.Peer())
	if err != nil {
		d.fail(err)
		return
	}
	conn := d.talk.release()
	d.talk = nil
	if in := ep.slot.takeReserve(); in != nil {
		in.refuse(handshake.Duplicate, "the other attempt has succeeded")
	}
	ep.opened = true
	ep.connect(conn, nil, d.epoch, g)
}

// fail ends the present attempt from a call of the loop's.
func (d *dial) fail(err error) {
	phase := d.phase()
	d.failed.Add(d.explain(err))
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
	d.ep.tell(btl.LogInfo, "not connected", d.ep.pair.String(), d.epoch,
		fmt.Sprintf(", attempt %d of %d: %v; next in %v", tries, m.cfg.connectRetries, d.failed.Last(), wait))
	d.pause = m.loop.After(wait, d.start)
}

func (d *dial) giveUp(phase string) {
	ep := d.ep
	d.failed.Took = time.Duration(ep.m.loop.Now() - d.since)
	ep.down(ep.connError(phase, &d.failed))
}

// explain says what it means that the peer has ended the present attempt.
func (d *dial) explain(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case d.proved():
		return errors.New("the peer has closed the connection instead of accepting it")
	}
	return errors.New("whoever listens there has closed the connection without a word: it does not take this for a process of its job")
}

// end closes the socket of the present attempt, if there is one.
func (d *dial) end() {
	if d.talk != nil {
		d.talk.close()
		d.talk = nil
	}
	d.connector = nil
}

// cancel gives up for good.
func (d *dial) cancel() {
	d.end()
	if d.pause != nil {
		d.pause.Stop()
		d.pause = nil
	}
}
