package tcp

import (
	"github.com/strandmp/strand/internal/rawio"
)

// tune sets the options of a connection before it is used. Nearby says that the
// peer is on this machine.
func (m *module) tune(fd int, nearby bool) error {
	if err := rawio.SetNoDelay(fd, m.cfg.noDelay); err != nil {
		return err
	}
	if err := m.cfg.setBuffers(fd); err != nil {
		return err
	}
	if m.cfg.unsent > 0 && !nearby {
		// A system that can not do this holds more than it should.
		_ = rawio.SetUnsent(fd, m.cfg.unsent)
	}
	if m.cfg.userTimeout > 0 {
		if err := rawio.SetUserTimeout(fd, m.cfg.userTimeout); err != nil {
			return err
		}
	}
	if m.cfg.keepalive > 0 {
		if err := rawio.SetKeepalive(fd, m.cfg.keepalive, m.cfg.keepalive/keepaliveProbes, keepaliveProbes); err != nil {
			return err
		}
	}
	return m.chooseCongestion(fd, nearby)
}

const keepaliveProbes = 3
