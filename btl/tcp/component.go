package tcp

import (
	"net/netip"
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func init() { btl.Register(Component{}) }

// Component is the transport over TCP.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "tcp" }

// Secret implements [btl.Secretive].
func (Component) Secret(v *param.Values) string {
	if !v.Bool(pEncrypt) {
		return ""
	}
	return v.Value(pEncrypt).String()
}

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) { r.Declare(specs...) }

// Open implements [btl.Component]: one module for all interfaces.
func (Component) Open(host btl.Host) ([]btl.Module, error) {
	if !rawio.Supported {
		return nil, &btl.UnavailableError{Component: "tcp", Reason: "no raw sockets on " + runtime.GOOS}
	}
	m := newModule(host, readConfig(host.Params()))
	if err := m.Open(host, "tcp", m, m.wiring()); err != nil {
		return nil, err
	}
	if err := m.try(m.Local.Interfaces); err != nil {
		return nil, err
	}
	if host.Size() > 1 { // else nobody is there to connect to us
		if err := m.listen(); err != nil {
			return nil, err
		}
	}
	m.describe()
	return []btl.Module{m}, nil
}

func newModule(host btl.Host, cfg config) *module {
	m := &module{
		loop:    host.Loop(),
		cfg:     cfg,
		scratch: make([]byte, 64<<10),
		buffers: newLender(host.Loop()),
	}
	m.Links, m.Near, m.Expedites = cfg.links, loopbackLatency, true
	return m
}

// wiring is how connections are set up.
func (m *module) wiring() wireup.Config {
	return wireup.Config{
		Paths: maxPaths, Strangers: strangersAllowed(),
		MaxFrame: m.cfg.maxFrag, FrameLimit: maxFrameLimit, Own: m.cfg.own(), Check: checkOwn, Agrees: m.agrees,
	}
}

const (
	// maxPaths bounds the paths between two ranks.
	maxPaths = 64
	// maxFrameLimit bounds what a peer may announce, and btl_tcp_max_frag.
	maxFrameLimit = 1 << 30
	// mostStrangers bounds the connections that have not proved themselves. Besides, they take
	// at most one in strangersPerFile of the descriptors that the process may have.
	mostStrangers    = 1024
	strangersPerFile = 8
)

// strangersAllowed is how many strangers a process bears at a time. No pace is set for them here:
// the listeners have one (listener.calm). A connection that was not let in would wait in the
// system's queue, and a flood fills that queue for everybody.
func strangersAllowed() int {
	if limit := openfiles.Limit(); limit > 0 {
		return min(mostStrangers, max(limit/strangersPerFile, 1))
	}
	return mostStrangers
}

// describe sets the attributes of the module, whose interfaces are known.
func (m *module) describe() {
	secrecy := btl.Clear
	if m.cfg.encrypt {
		secrecy = btl.Encrypted
	}
	m.Attrs = btl.Attr{
		Name:        "tcp",
		EagerLimit:  m.cfg.eagerLimit,
		EagerFixed:  m.cfg.eagerFixed,
		MaxFrame:    m.cfg.maxFrag,
		Bandwidth:   m.Local.Speed(10_000), // loopback and virtual interfaces do not tell
		Latency:     networkLatency,
		Exclusivity: 100,
		Lanes:       1,
		Ordered:     true,
		Reliable:    true,
		Secrecy:     secrecy,
	}
}

// Typical latencies, half a round trip of a small message.
const (
	networkLatency  = 25 * time.Microsecond
	loopbackLatency = 5 * time.Microsecond
)

// try sets on a socket what the user wants and the system may refuse, so that a mistake
// shows at the start. There is nothing to try if the user leaves it all to the system.
func (m *module) try(chosen []reach.Address) error {
	if !m.cfg.namesCongestion() && m.cfg.sndbuf.size == 0 && m.cfg.rcvbuf.size == 0 || len(chosen) == 0 {
		return nil
	}
	fd, err := rawio.Stream(netip.AddrPortFrom(chosen[0].Addr(), 0)) // there may be one family only
	if err != nil {
		return err
	}
	defer rawio.Close(fd)
	if m.cfg.namesCongestion() {
		if err := m.cfg.setCongestion(fd); err != nil {
			return err
		}
	}
	return m.checkBuffers(fd)
}

// namesCongestion reports whether the user has chosen a congestion control.
func (c *config) namesCongestion() bool { return c.congestion != "auto" && c.congestion != "default" }
