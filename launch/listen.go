package launch

import (
	"errors"
	"strconv"

	"github.com/strandmp/strand/internal/launcher/control"
)

var errNoControl = errors.New("launch: this launcher takes no messages but those of PMI-1")

// takeControl takes the channel that "strand run" leaves open beside PMI_FD. A wrapper between
// the two may have closed it. A rank can run without it, so that is no error.
func (m *member) takeControl(env lookup) {
	text, found := env(control.Variable)
	if !found || m.launcher != strandRun {
		return
	}
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return
	}
	if conn, err := takeSocket(fd); err == nil {
		m.control = control.NewMember(conn)
	}
}

// Listen implements [Listener].
func (m *member) Listen(c Callbacks) {
	if m.control == nil {
		return
	}
	m.listening.Go(func() {
		_ = m.control.Serve(control.Callbacks{ // it returns when the channel has ended
			Report: c.Report,
			Failed: func(f control.Failure) {
				if m.other(f.Rank) {
					c.Failed(&Failure{Rank: f.Rank, Host: f.Host, Launcher: m.launcher, How: f.How, Status: f.Status, Signal: f.Signal})
				}
			},
			Left: func(d control.Departure) {
				if m.other(d.Rank) && c.Left != nil {
					c.Left(d.Rank, d.Host)
				}
			},
			Called: func(by int) {
				if m.other(by) {
					c.Called(by)
				}
			},
		})
		if !m.leaving.Load() && c.Gone != nil {
			c.Gone()
		}
	})
}

// other reports whether there is such a rank beside this one.
func (m *member) other(rank int) bool { return rank >= 0 && rank < m.size && rank != m.rank }

// CanCall implements [Listener].
func (m *member) CanCall() bool { return m.control != nil }

// Call implements [Listener].
func (m *member) Call(rank int) error {
	if m.control == nil {
		return errNoControl
	}
	return m.control.Call(rank)
}

// Warn implements [Listener].
func (m *member) Warn(line string) error {
	if m.control == nil {
		return errNoControl
	}
	return m.control.Warn(line)
}

// stopListening ends the channel. It returns when no callback is called any more.
func (m *member) stopListening() {
	if m.control != nil {
		m.leaving.Store(true)
		m.control.Close()
		m.listening.Wait()
	}
}
