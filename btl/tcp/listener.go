package tcp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// A listener is one listening socket: there is one for each selected address,
// all on the same port.
type listener struct {
	m     *module
	fd    int
	watch btl.Watch
	pause btl.Timer

	segment int // how long segments of what is accepted are at most; 0: as the system likes
}

const (
	backlog = 4096
	// acceptsPerPoll keeps a flood of connections from holding up everything.
	acceptsPerPoll = 16
	// A flood must get only a small part of the process's time: while there are more
	// strangers than calm, a listener rests for floodRest after each batch.
	calm      = 64
	floodRest = time.Millisecond
	// troubleRest is how long a listener waits when the system gives it nothing.
	troubleRest = 100 * time.Millisecond
)

// listen opens the listeners on one port and publishes the addresses chosen.
func (m *module) listen() error {
	open := func(a reach.Address, port uint16) (int, uint16, error) {
		at := netip.AddrPortFrom(wireup.Zoned(a), port)
		fd, err := rawio.Listen(at, backlog)
		if err != nil {
			return 0, 0, fmt.Errorf("listening on %v (%s): %w", at, a.Interface, err)
		}
		return fd, rawio.LocalAddr(fd).Port(), nil
	}
	chosen := m.Local.Interfaces
	fds, port, err := wireup.Bind(m.Local.Settings.Ports, wireup.Describe(chosen), chosen, open, rawio.Close)
	if err != nil {
		return err
	}
	for _, fd := range fds {
		m.prepareListener(fd)
		m.listeners = append(m.listeners, &listener{m: m, fd: fd})
	}
	for _, l := range m.listeners {
		if err = m.cfg.setBuffers(l.fd); err == nil {
			l.watch, err = m.loop.Watch(l.fd, l)
		}
		if err != nil {
			return m.deaf(err)
		}
	}
	m.Publish(nil, port, chosen)
	m.Host.Logf(btl.LogInfo, "tcp: rank %d: listening on port %d of %s", m.Host.Rank(), port, wireup.Describe(chosen))
	return nil
}

// deaf closes the listeners because of an error.
func (m *module) deaf(err error) error {
	for _, l := range m.listeners {
		l.close()
	}
	return err
}

// Poll implements [btl.Handler].
func (l *listener) Poll(bool) bool {
	did := false
	for range acceptsPerPoll {
		if l.watch == nil {
			return did
		}
		fd, from, err := rawio.Accept(l.fd)
		switch {
		case err == nil:
			did = true
			l.m.welcome(fd, from)
		case errors.Is(err, syscall.EAGAIN):
			return did
		case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EINTR):
		default:
			// Out of descriptors or memory: trying again at once would spin.
			l.m.Wire.Stray(btl.LogWarn, "", openfiles.Explain(err))
			l.rest(troubleRest)
			return did
		}
	}
	if l.m.Wire.Count() > calm {
		l.rest(floodRest)
	}
	return did
}

// rest stops accepting for a while.
func (l *listener) rest(d time.Duration) {
	if l.watch == nil {
		return
	}
	l.watch.Stop()
	l.watch = nil
	l.resume(d)
}

// resume accepts again after a while. If the loop does not take the listener then, it tries again
// every second.
func (l *listener) resume(d time.Duration) {
	l.pause = l.m.loop.After(d, func() {
		l.pause = nil
		var err error
		if l.watch, err = l.m.loop.Watch(l.fd, l); err != nil {
			l.watch = nil
			l.m.Wire.Stray(btl.LogWarn, "", err)
			l.resume(time.Second)
		}
	})
}

func (l *listener) close() {
	if l.pause != nil {
		l.pause.Stop()
	}
	if l.watch != nil {
		l.watch.Stop()
		l.watch = nil
	}
	rawio.Close(l.fd)
}
