package tcp

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// Which congestion control a connection has (btl_tcp_congestion). BBR, the default
// of some systems, paces what it sends even to a peer on the same machine. That
// halves the throughput there, so auto chooses another one for such peers.
//
// The kernel goes on pacing a socket that once had BBR, whatever is chosen later.
// An accepted socket starts with the congestion control of its listener. Hence the
// listeners must not have BBR either, unless the user wants it.

// chooseCongestion sets the congestion control of a connection.
func (m *module) chooseCongestion(fd int, nearby bool) error {
	switch m.cfg.congestion {
	case "default":
	case "auto":
		if nearby {
			unpaced(fd)
		} else if m.preset != "" {
			// An accepted socket has the listener's, which was changed by prepareListener.
			_ = rawio.SetCongestion(fd, m.preset)
		}
	default:
		return m.cfg.setCongestion(fd)
	}
	return nil
}

// Report implements [btl.Reporter].
func (m *module) Report() btl.Report {
	if len(m.listeners) == 0 {
		return btl.Report{}
	}
	// A connection begins with the listener's congestion control.
	within := rawio.Congestion(m.listeners[0].fd)
	if m.cfg.congestion == "auto" {
		return btl.Report{CongestionWithin: within, CongestionOthers: m.preset}
	}
	return btl.Report{CongestionWithin: within, CongestionOthers: within}
}

// prepareListener gives a listening socket what its connections should start with.
func (m *module) prepareListener(fd int) {
	switch m.cfg.congestion {
	case "default":
	case "auto":
		m.preset = rawio.Congestion(fd)
		unpaced(fd)
	default:
		_ = m.cfg.setCongestion(fd) // if it is refused, each connection reports it
	}
}

// unpaced chooses a congestion control that does not pace. If this process may choose
// none of them, the socket keeps what it has.
func unpaced(fd int) {
	if rawio.SetCongestion(fd, "cubic") != nil {
		_ = rawio.SetCongestion(fd, "reno")
	}
}

// setCongestion chooses the congestion control that the user has named.
func (c config) setCongestion(fd int) error {
	if err := rawio.SetCongestion(fd, c.congestion); err != nil {
		return fmt.Errorf("%s: the kernel refuses it: %w (it allows what is in /proc/sys/net/ipv4/tcp_allowed_congestion_control; auto and default always work)",
			c.congestionSetting, err)
	}
	return nil
}
