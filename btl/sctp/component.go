package sctp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/strangers"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func init() { btl.Register(Component{}) }

// Component is the transport over SCTP.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "sctp" }

// Requested implements [btl.Requested]: TCP is faster wherever no packet is lost.
func (Component) Requested() {}

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) { r.Declare(specs...) }

// Open implements [btl.Component]: one module for all interfaces.
func (Component) Open(host btl.Host) ([]btl.Module, error) {
	if !rawio.Supported {
		return nil, &btl.UnavailableError{Component: "sctp", Reason: "no raw sockets on " + runtime.GOOS}
	}
	cfg, err := readConfig(host.Params(), func(err error) { host.Logf(btl.LogWarn, "sctp: rank %d: %v", host.Rank(), err) })
	if err != nil {
		return nil, err
	}
	system, err := reach.System()
	if err != nil {
		return nil, err
	}
	if len(system.Addresses) == 0 {
		return nil, &btl.UnavailableError{Component: "sctp", Reason: "no network interface is up, not even the loopback",
			Remedy: "ip link set lo up"}
	}
	chosen, err := cfg.choice.Select(system.Addresses)
	if err != nil {
		return nil, err
	}
	m := newModule(host, cfg)
	if err := m.open(system, chosen); err != nil {
		return nil, m.explain(err)
	}
	return []btl.Module{m}, nil
}

func newModule(host btl.Host, cfg config) *module {
	return &module{
		host:      host,
		loop:      host.Loop(),
		cfg:       cfg,
		strangers: strangers.New[*inbound](strangers.Rules{Most: mostStrangers, Pace: strangerPace, Chance: rand.IntN}),
		slots:     make(map[int]*slot),
		leaving:   make(map[*linger]struct{}),
	}
}

// open opens the stack and publishes the addresses chosen from those of the
// system.
func (m *module) open(system reach.Side, chosen []reach.Address) error {
	cfg := stack.Config{
		Loop: m.loop, PortMin: m.cfg.portMin, Ports: m.cfg.ports,
		Peers:  m.host.Size() - 1,
		Accept: m.accept, Room: m.room, Warn: m.warn,
		Tuning: m.cfg.tuning,
	}
	for _, a := range chosen {
		cfg.Local = append(cfg.Local, wireup.Zoned(a))
	}
	opened, err := openStack(m.cfg, cfg)
	if err != nil {
		return err
	}
	m.stack, m.local.stack, m.why = opened.Stack, opened.kind, opened.why
	m.limitFrames()
	if usable := opened.Usable(); len(usable) < len(chosen) {
		chosen = m.among(chosen, usable)
	}
	m.local.Address = wireup.Address{Port: m.stack.Port(), Network: system.Network, Host: m.host.Hostname(), Interfaces: chosen}
	m.side = m.local.Side()
	m.side.Held = slices.Clone(system.Held)
	for _, a := range system.Addresses {
		if !m.local.Holds(a.Addr()) {
			m.side.Held = append(m.side.Held, a.Addr())
		}
	}
	m.attr = m.attributes()
	if m.local.Port == 0 {
		return nil // alone
	}
	m.blob = m.local.encode()
	m.host.Logf(btl.LogInfo, "sctp: rank %d: the %s stack (%s), port %d of %s",
		m.host.Rank(), stackName(m.local.stack), m.why, m.stack.Port(), wireup.Describe(chosen))
	return nil
}

// limitFrames has frames be no longer than the stack's buffers are good for.
func (m *module) limitFrames() {
	limit := max(m.stack.MaxMessage()-prefixSize-maxHeader, leastFrame)
	if limit >= m.cfg.maxFrame {
		return
	}
	m.host.Logf(btl.LogInfo, "sctp: rank %d: frames of %d bytes instead of %d (%s), since the buffers are no larger",
		m.host.Rank(), limit, m.cfg.maxFrame, pMaxFrame)
	m.cfg.maxFrame = limit
}

// among returns the addresses that are in the list, and tells of the others.
func (m *module) among(all []reach.Address, usable []netip.Addr) []reach.Address {
	var left []reach.Address
	for _, a := range all {
		if slices.ContainsFunc(usable, func(u netip.Addr) bool { return u.WithZone("") == a.Addr() }) {
			left = append(left, a)
		} else {
			m.host.Logf(btl.LogWarn, "sctp: rank %d: not using %v: it can not be listened on at the moment", m.host.Rank(), a)
		}
	}
	return left
}

// explain names the parameter that a stack can not do.
func (m *module) explain(err error) error {
	if u, ok := errors.AsType[*stack.UnsupportedError](err); ok {
		return fmt.Errorf("%s: %w", m.host.Params().Value(prefixOfAll+u.Parameter), err)
	}
	return err
}

// attributes of the module, whose interfaces are known.
func (m *module) attributes() btl.Attr {
	speed := 0
	for _, a := range m.local.Interfaces {
		speed = max(speed, a.Speed)
	}
	if speed == 0 {
		speed = 2_500 // loopback and virtual interfaces do not tell
	}
	return btl.Attr{
		Name:       "sctp/" + stackName(m.local.stack),
		EagerLimit: min(m.cfg.eagerLimit, m.cfg.maxFrame),
		EagerFixed: m.cfg.eagerFixed,
		MaxFrame:   m.cfg.maxFrame,
		Bandwidth:  speed,
		Latency:    networkLatency,
		// Below tcp: who wants streams says so.
		Exclusivity: 90,
		Lanes:       m.cfg.streams,
		Ordered:     true,
		Reliable:    true,
	}
}

// Typical latencies, half a round trip of a small message.
const (
	networkLatency  = 40 * time.Microsecond
	loopbackLatency = 10 * time.Microsecond
)
