package strandquic

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// module is QUIC over all selected interfaces of a process: a socket for each address.
type module struct {
	host  btl.Host
	local *wireup.Local
	blob  []byte // local, encoded
	lanes int
	queue int // bytes

	wire    *wireup.Manager
	group   *handoff.Group
	sockets map[netip.Addr]*socket
	tls     *tls.Config
	config  *quic.Config
	closed  bool

	hurry context.CancelFunc // nothing is waited for any more
	late  context.Context    // ends with hurry
}

type socket struct {
	quic.Transport
	listener *quic.Listener
	port     uint16
}

const (
	// lingers is how long a closed connection may take to send its last frames, farewell
	// how long closing the module waits for all of them.
	lingers  = 2 * time.Second
	farewell = 500 * time.Millisecond
	maxPaths = 16
)

func newModule(h btl.Host, local *wireup.Local, s *wireup.Settings, c Component) (*module, error) {
	m := &module{
		host: h, local: local, group: handoff.NewGroup(h.Loop()), sockets: make(map[netip.Addr]*socket),
		lanes: h.Params().Int(pLanes), queue: int(h.Params().Size(pQueue)),
		config: &quic.Config{
			HandshakeIdleTimeout: s.ConnectTimeout, MaxIncomingStreams: 1, MaxIncomingUniStreams: maxLanes,
			MaxIdleTimeout: time.Minute, KeepAlivePeriod: 15 * time.Second,
		},
	}
	m.late, m.hurry = context.WithCancel(context.Background())
	m.wire = wireup.NewManager(h, m, wireup.Config{
		Name: "quic", Prefix: prefix, Retries: s.Retries, ConnectTimeout: s.ConnectTimeout, HandshakeTimeout: s.HandshakeTimeout,
		Paths: maxPaths, MaxFrame: maxFrame, FrameLimit: maxFrame, Doubt: local.Doubt,
		Own: []byte{byte(m.lanes)}, Check: checkLanes,
	})
	var err error
	if m.tls, err = newTLS(); err != nil {
		return nil, err
	}
	open := func(a reach.Address, port uint16) (*socket, uint16, error) { return m.open(a, port, c) }
	made, port, err := wireup.Bind(s.Ports, wireup.Describe(local.Interfaces), local.Interfaces, open, (*socket).close)
	if err != nil {
		return nil, err
	}
	for i, so := range made {
		m.sockets[local.Interfaces[i].Addr()] = so
		m.group.Go(func() { m.listen(so) })
	}
	m.blob = local.Publish(port, local.Interfaces)
	return m, nil
}

func checkLanes(own []byte) error {
	if own[0] == 0 || own[0] > maxLanes {
		return fmt.Errorf("%d lanes, allowed are 1 to %d", own[0], maxLanes)
	}
	return nil
}

// newTLS makes a key and a certificate that say nothing: the handshake of package wireup
// proves who the peer is, bound to this very connection.
func newTLS() (*tls.Config, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, public, private)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
		NextProtos:   []string{"strand"}, MinVersion: tls.VersionTLS13,
		SessionTicketsDisabled: true, InsecureSkipVerify: true,
	}, err
}

// open makes the socket for an address.
func (m *module) open(a reach.Address, port uint16, c Component) (*socket, uint16, error) {
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(wireup.Zoned(a), port)))
	if err != nil {
		return nil, 0, err
	}
	so := &socket{port: udp.LocalAddr().(*net.UDPAddr).AddrPort().Port()}
	so.Conn = udp
	if c.wrap != nil {
		so.Conn = c.wrap(udp)
	}
	// Nobody gets anything done at an address that is not its own.
	so.VerifySourceAddress = func(net.Addr) bool { return true }
	if so.listener, err = so.Listen(m.tls, m.config); err != nil {
		so.close()
		return nil, 0, err
	}
	return so, so.port, nil
}

func (so *socket) close() {
	_ = so.Transport.Close() // nothing is open any more
	_ = so.Conn.Close()
}

// listen takes connections and hands them to the loop.
func (m *module) listen(so *socket) {
	for {
		conn, err := so.listener.Accept(m.group.Context())
		if err != nil {
			return // the module closes
		}
		if !m.group.Do(m.group.Context(), func() { m.visited(conn) }) {
			_ = conn.CloseWithError(givenUp, "")
		}
	}
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attributes() }

// Address implements [btl.Module].
func (m *module) Address() []byte { return m.blob }

// Reach implements [btl.Module].
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank == m.host.Rank() {
		return nil, errors.New("quic: it is this process, which btl self serves")
	}
	remote, err := wireup.Decode(peer.Address)
	if err != nil {
		return nil, fmt.Errorf("quic: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	pairs, _, err := m.local.Pairs(peer.Rank, remote)
	if err != nil {
		return nil, fmt.Errorf("quic: rank %d on %s: %w", peer.Rank, peer.Host, err)
	}
	var paths []btl.Path
	for i, p := range pairs[:min(len(pairs), maxPaths)] {
		paths = append(paths, btl.Path{Index: i, Bandwidth: cmp.Or(p.Speed, m.Attr().Bandwidth), Latency: latency,
			Weight: p.Weight, Desc: p.Describe(), Private: p})
	}
	return paths, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, path btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	return m.wire.Connect(peer, path, recv)
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{} }

// Holds implements [wireup.Transport].
func (m *module) Holds(target netip.AddrPort) bool { return m.local.Meant(target) }

// Linger implements [wireup.Transport]: links linger by themselves.
func (m *module) Linger() {}

// Progress implements [btl.Module]: all work is posted.
func (m *module) Progress() bool { return false }

// Close implements [btl.Module].
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.wire.Close()
	timer := time.AfterFunc(farewell, m.hurry)
	m.group.Close()
	timer.Stop()
	m.hurry()
	for _, so := range m.sockets {
		so.close()
	}
	return nil
}
