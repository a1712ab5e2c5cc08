package sctp

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func init() { btl.Register(Component{}) }

// Component is the transport over SCTP.
type Component struct {
	// meddle is for tests: what it returns for a module is its stack's [stack.Config].Meddle.
	meddle func() func(packet []byte, take func([]byte))
}

// Name implements [btl.Component].
func (Component) Name() string { return "sctp" }

// Requested implements [btl.Requested]: TCP is faster wherever no packet is lost.
func (Component) Requested() {}

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) { r.Declare(specs...) }

// Open implements [btl.Component]: one module for all interfaces.
func (c Component) Open(host btl.Host) ([]btl.Module, error) {
	if !rawio.Supported {
		return nil, &btl.UnavailableError{Component: "sctp", Reason: "no raw sockets on " + runtime.GOOS}
	}
	cfg, err := readConfig(host.Params())
	if err != nil {
		return nil, err
	}
	m := &module{loop: host.Loop(), cfg: cfg}
	if c.meddle != nil {
		m.meddle = c.meddle()
	}
	m.Near = loopbackLatency
	if err := m.Open(host, "sctp", m, m.wiring()); err != nil {
		return nil, err
	}
	if err := m.open(); err != nil {
		return nil, m.explain(err)
	}
	return []btl.Module{m}, nil
}

const (
	// mostStrangers bounds the associations that have not proved themselves.
	mostStrangers = 256
	// strangerPace bounds what a flood takes of the process's time: an association that
	// is let in costs some 50 µs.
	strangerPace = 500 * time.Microsecond
	// maxFrameLimit bounds what a peer may announce, and btl_sctp_max_frame.
	maxFrameLimit = 1 << 20
)

// wiring is how connections are set up.
func (m *module) wiring() wireup.Config {
	return wireup.Config{
		Noun: "an association", SelfTimed: true, Merges: true,
		Strangers: mostStrangers, Pace: strangerPace,
		FrameLimit: maxFrameLimit, Own: ownGreeting(m.cfg.streams), Check: checkGreeting,
	}
}

// open opens the stack and publishes the addresses chosen.
func (m *module) open() error {
	chosen := m.Local.Interfaces
	cfg := stack.Config{
		Loop: m.loop, Ports: m.Local.Settings.Ports,
		Peers:  m.Host.Size() - 1,
		Accept: m.accept, Room: func(from netip.AddrPort) bool { return m.Wire.Room(from) }, Warn: m.warn, Meddle: m.meddle,
		Tuning: m.cfg.tuning,
	}
	cfg.ConnectTimeout = m.Local.Settings.ConnectTimeout
	for _, a := range chosen {
		cfg.Local = append(cfg.Local, wireup.Zoned(a))
	}
	opened, err := openStack(m.cfg, cfg)
	if err != nil {
		return err
	}
	m.stack, m.kind, m.why = opened.Stack, opened.kind, opened.why
	m.limitFrames()
	m.Attrs = m.attributes()
	port := m.stack.Port()
	if port == 0 {
		return nil // alone
	}
	chosen = slices.DeleteFunc(slices.Clone(chosen), func(a reach.Address) bool { return !slices.Contains(m.stack.Local(), wireup.Zoned(a)) })
	m.Publish([]byte{m.kind}, port, chosen)
	m.Host.Logf(btl.LogInfo, "sctp: rank %d: the %s stack (%s), port %d of %s; it does not encrypt",
		m.Host.Rank(), stackName(m.kind), m.why, port, wireup.Describe(chosen))
	m.tellUnused()
	return nil
}

// tellUnused says which settings the stack does without.
func (m *module) tellUnused() {
	if m.kind != overIP {
		return
	}
	for _, name := range []string{pMTU, pLoopbackMTU} {
		if v := m.Host.Params().Value(name); v.Source.Kind != param.Default {
			m.Host.Logf(btl.LogWarn, "sctp: rank %d: %s has no effect: the kernel stack finds out by itself how long packets may be (%s=user goes by it)",
				m.Host.Rank(), v, pStack)
		}
	}
}

// limitFrames makes frames no longer than the stack's buffers allow.
func (m *module) limitFrames() {
	limit := max(m.stack.MaxMessage()-prefixSize-maxHeader, leastFrame)
	if m.Wire.MaxFrame = min(limit, m.cfg.maxFrame); limit >= m.cfg.maxFrame {
		return
	}
	m.Host.Logf(btl.LogInfo, "sctp: rank %d: frames of %d bytes instead of %d (%s), since the buffers are no larger",
		m.Host.Rank(), limit, m.cfg.maxFrame, pMaxFrame)
	m.cfg.maxFrame = limit
}

// explain adds the setting that the stack can not follow to the error.
func (m *module) explain(err error) error {
	if u, ok := errors.AsType[*stack.UnsupportedError](err); ok {
		return fmt.Errorf("%s: %w", m.Host.Params().Value(prefixOfAll+u.Parameter), err)
	}
	return err
}

// attributes of the module, whose interfaces are known.
func (m *module) attributes() btl.Attr {
	return btl.Attr{
		Name:       "sctp/" + stackName(m.kind),
		EagerLimit: min(m.cfg.eagerLimit, m.cfg.maxFrame),
		EagerFixed: m.cfg.eagerFixed,
		MaxFrame:   m.cfg.maxFrame,
		Bandwidth:  m.Local.Speed(2_500), // loopback and virtual interfaces do not tell
		Latency:    networkLatency,
		// Below tcp: who wants streams says so.
		Exclusivity: 90,
		Lanes:       m.cfg.streams,
		Ordered:     true,
		Reliable:    true,
		Retains:     m.kind != overIP,
	}
}

// Typical latencies, half a round trip of a small message.
const (
	networkLatency  = 40 * time.Microsecond
	loopbackLatency = 10 * time.Microsecond
)
