package tcp

import (
	"net/netip"
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
)

func init() { btl.Register(Component{}) }

// Component is the transport over TCP.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "tcp" }

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) { r.Declare(specs...) }

// Open implements [btl.Component]: one module for all interfaces.
func (Component) Open(host btl.Host) ([]btl.Module, error) {
	if !rawio.Supported {
		return nil, &btl.UnavailableError{Component: "tcp", Reason: "no raw sockets on " + runtime.GOOS}
	}
	cfg, err := readConfig(host.Params(), func(err error) { host.Logf(btl.LogWarn, "tcp: rank %d: %v", host.Rank(), err) })
	if err != nil {
		return nil, err
	}
	system, err := reach.System()
	if err != nil {
		return nil, err
	}
	if len(system.Addresses) == 0 {
		return nil, &btl.UnavailableError{Component: "tcp", Reason: "no network interface is up, not even the loopback",
			Remedy: "ip link set lo up"}
	}
	chosen, err := cfg.choice.Select(system.Addresses)
	if err != nil {
		return nil, err
	}
	m := newModule(host, cfg)
	if err := m.try(chosen); err != nil {
		return nil, err
	}
	if host.Size() == 1 {
		m.local.Interfaces = chosen // nobody is there to connect to us
		m.attr = m.attributes()
		return []btl.Module{m}, nil
	}
	if err := m.listen(system, chosen); err != nil {
		return nil, err
	}
	return []btl.Module{m}, nil
}

func newModule(host btl.Host, cfg config) *module {
	return &module{
		host:    host,
		loop:    host.Loop(),
		cfg:     cfg,
		slots:   make(map[slotKey]*slot),
		leaving: make(map[*linger]struct{}),
		scratch: make([]byte, 64<<10),
		buffers: newLender(host.Loop()),

		routes:    reach.Remember(cfg.policy),
		strangers: newCrowd(strangersAllowed()),
		grace:     reserveGrace,
	}
}

// attributes of the module, whose interfaces are known.
func (m *module) attributes() btl.Attr {
	speed := 0
	for _, a := range m.local.Interfaces {
		speed = max(speed, a.Speed)
	}
	if speed == 0 {
		speed = 10_000 // loopback and virtual interfaces do not tell
	}
	return btl.Attr{
		Name:        "tcp",
		EagerLimit:  m.cfg.eagerLimit,
		EagerFixed:  m.cfg.eagerFixed,
		MaxFrame:    m.cfg.maxFrag,
		Bandwidth:   speed,
		Latency:     networkLatency,
		Exclusivity: 100,
		Lanes:       1,
		Ordered:     true,
		Reliable:    true,
	}
}

// Typical latencies, half a round trip of a small message.
const (
	networkLatency  = 25 * time.Microsecond
	loopbackLatency = 5 * time.Microsecond
)

// try sets on a socket what the user wants and the system may not give, so that a
// mistake shows at the start. Where the user leaves it to the system there is nothing
// to try.
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
