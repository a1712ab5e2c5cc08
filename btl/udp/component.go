package udp

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

func init() { btl.Register(Component{}) }

// Component is the transport over UDP.
type Component struct {
	// meddle is for tests: what becomes of a packet that arrives. It hands on what is to be taken.
	meddle func(packet []byte, take func([]byte))
}

// Name implements [btl.Component].
func (Component) Name() string { return "udp" }

// Requested implements [btl.Requested].
func (Component) Requested() {}

// Secret implements [btl.Secretive].
func (Component) Secret(v *param.Values) string {
	if v.String(pProtect) != protections[protectEncrypted] {
		return ""
	}
	return v.Value(pProtect).String()
}

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) { r.Declare(specs...) }

// Open implements [btl.Component]: one module for all interfaces.
func (c Component) Open(host btl.Host) ([]btl.Module, error) {
	if !rawio.Supported {
		return nil, &btl.UnavailableError{Component: "udp", Reason: "no raw sockets on " + runtime.GOOS}
	}
	m := &module{
		meddle: c.meddle, cfg: readConfig(host.Params()), links: make(map[uint64]*link), peers: make(map[uint64]*link),
		strangers: make(map[stranger]*link), scratch: make([]byte, 0, scratchSize),
		loop: host.Loop(), clock: datagram.NewClock(host.Loop()),
	}
	m.Near = loopbackLatency
	if err := m.Open(host, "udp", m, m.wiring()); err != nil {
		return nil, err
	}
	if host.Size() > 1 { // else nobody is there to talk to
		if err := m.listen(); err != nil {
			return nil, err
		}
	}
	m.Wire.Own = m.own()
	m.Attrs = m.attributes()
	return []btl.Module{m}, nil
}

// scratchSize has room for the packets of one burst, with their proofs.
const scratchSize = 2 * rawio.MaxSegmentsBytes

const (
	// maxPaths bounds the paths between two ranks.
	maxPaths = 64
	// maxFrameLimit bounds what a peer may announce.
	maxFrameLimit = 1 << 30
	// repeatHello is how long after it was sent a message of the handshake is sent again.
	repeatHello = 50 * time.Millisecond
)

func (m *module) wiring() wireup.Config {
	return wireup.Config{
		Noun: "a connection", Paths: maxPaths, MaxFrame: m.cfg.maxFrag, FrameLimit: maxFrameLimit,
		Own: make([]byte, ownSize), Check: m.check, Agrees: m.agrees, Repeat: repeatHello,
	}
}

// What the transport adds to a greeting: how packets are protected, and what the socket has room for.
const ownSize = 5

func (m *module) own() []byte {
	room := 0
	for i, so := range m.sockets {
		size, err := so.ReceiveBuffer()
		if err == nil && (i == 0 || size < room) {
			room = size
		}
	}
	return order.AppendUint32([]byte{byte(m.cfg.protect)}, uint32(max(room, leastRoom)))
}

// leastRoom is what any socket has.
const leastRoom = 2 * leastPacket

func windowOf(own []byte) int { return int(order.Uint32(own[1:]) / 2) }

func (m *module) check(own []byte) error {
	switch theirs := int(own[0]); {
	case theirs >= len(protections):
		return errors.New("an unknown protection")
	case order.Uint32(own[1:]) < leastRoom:
		return errors.New("a receive buffer of an impossible size")
	}
	return nil
}

// agrees refuses a peer that protects its packets in another way. The handshake's proof covers the greeting, so nobody on the way can talk the two out
// of it.
func (m *module) agrees(rank int, g wireup.Greeting) error {
	if theirs := int(g.Own[0]); theirs != m.cfg.protect {
		return fmt.Errorf("rank %d on %s has %s=%s and rank %d on %s has %v: all ranks must have the same",
			rank, g.Host, pProtect, protections[theirs], m.Host.Rank(), m.Host.Hostname(), m.cfg.protectSetting)
	}
	return nil
}

// listen opens a socket for each address, and publishes them.
func (m *module) listen() error {
	longest := mtus()
	chosen, err := m.carrying(m.Local.Interfaces, longest)
	if err != nil {
		return err
	}
	sockets, port, err := wireup.Bind(m.Local.Settings.Ports, wireup.Describe(chosen), chosen,
		func(a reach.Address, port uint16) (*socket, uint16, error) { return m.openSocket(a, port, longest) }, func(so *socket) { so.Close() })
	if err != nil {
		return err
	}
	m.sockets = sockets
	buffers := datagram.NewBuffers()
	for _, so := range sockets {
		if err = so.Serve(m.loop, so, buffers); err != nil {
			for _, so := range sockets {
				so.Close()
			}
			return err
		}
	}
	m.Publish(nil, port, chosen)
	m.beats()
	m.Host.Logf(btl.LogInfo, "udp: rank %d: port %d of %s, packets by %v", m.Host.Rank(), port, wireup.Describe(chosen), sockets[0].Packets.Way)
	return nil
}

// carrying returns the addresses whose interfaces carry the shortest packets that there are, and tells of the others. If none does that is
// the error: each connection would be given up after btl_udp_timeout.
func (m *module) carrying(all []reach.Address, mtus map[int]int) (able []reach.Address, err error) {
	var short error
	for _, a := range all {
		mtu, known := mtus[a.Index]
		if least := leastPacket + headersOf(a); known && mtu < least {
			short = fmt.Errorf("%v carries packets of %d bytes at most (its MTU), %d are needed", a, mtu, least)
			m.Host.Logf(btl.LogWarn, "udp: rank %d: not using %v", m.Host.Rank(), short)
			continue
		}
		able = append(able, a)
	}
	if len(able) == 0 && short != nil {
		return nil, &btl.UnavailableError{Component: "udp", Reason: short.Error(), Remedy: "raise it, as by ip link set eth0 mtu 1500"}
	}
	return able, nil
}

func (m *module) attributes() btl.Attr {
	return btl.Attr{
		Name:        "udp",
		EagerLimit:  m.cfg.eagerLimit,
		EagerFixed:  m.cfg.eagerFixed,
		MaxFrame:    m.cfg.maxFrag,
		Bandwidth:   m.Local.Speed(5_000), // loopback and virtual interfaces do not tell
		Latency:     networkLatency,
		Exclusivity: 80, // below tcp and sctp: who wants it says so
		Lanes:       64, // in truth each frame is one
		Reliable:    true,
		Confirms:    true,
		Secrecy:     secrecyOf(m.cfg.protect),
	}
}

// Typical latencies, half a round trip of a small message.
const (
	networkLatency  = 30 * time.Microsecond
	loopbackLatency = 8 * time.Microsecond
)
