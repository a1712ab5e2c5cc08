package strandquic

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
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
	wireup.Base
	lanes   int
	queue   int // bytes
	group   *handoff.Group
	sockets map[netip.Addr]*socket
	tls     *tls.Config
	config  *quic.Config
	door    *door
	wrap    func(*net.UDPConn) net.PacketConn // nil but in tests
	closed  bool
}

type socket struct {
	quic.Transport
	listener *quic.EarlyListener
}

func newModule(h btl.Host, c Component) (*module, error) {
	m := &module{
		group: handoff.NewGroup(h.Loop()), sockets: make(map[netip.Addr]*socket), wrap: c.wrap,
		lanes: h.Params().Int(pLanes), queue: int(h.Params().Size(pQueue)),
	}
	err := m.Open(h, "quic", m, wireup.Config{
		Paths: maxPaths, MaxFrame: maxFrame, FrameLimit: maxFrame, Own: []byte{byte(m.lanes)}, Check: checkLanes,
	})
	if err != nil {
		return nil, err
	}
	m.config = &quic.Config{
		HandshakeIdleTimeout: m.Local.Settings.ConnectTimeout, MaxIncomingStreams: 1, MaxIncomingUniStreams: maxLanes,
		MaxIdleTimeout: time.Minute, KeepAlivePeriod: 15 * time.Second,
	}
	m.door = newDoor(m.Wire.Most())
	if m.tls, err = newTLS(); err != nil {
		return nil, err
	}
	used := m.Local.Interfaces
	made, port, err := wireup.Bind(m.Local.Settings.Ports, wireup.Describe(used), used, m.open, (*socket).close)
	if err != nil {
		return nil, err
	}
	for i, so := range made {
		m.sockets[used[i].Addr()] = so
		accept := func() (*quic.Conn, error) {
			conn, err := so.listener.Accept(m.group.Context())
			if err == nil {
				m.door.through(conn)
			}
			return conn, err
		}
		handoff.FetchAll(m.group, m.Wire.Most(), accept, m.visited, giveUp, func(err error) { m.Wire.Stray(btl.LogWarn, "", err) })
	}
	m.Publish(nil, port, used)
	m.describe()
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
func (m *module) open(a reach.Address, port uint16) (*socket, uint16, error) {
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(wireup.Zoned(a), port)))
	if err != nil {
		return nil, 0, err
	}
	so := &socket{Transport: quic.Transport{Conn: udp}}
	if m.wrap != nil {
		so.Conn = m.wrap(udp)
	}
	// Each peer has to show first that packets reach it at its address. So nobody makes this
	// process work, or answer, in the name of another address.
	so.VerifySourceAddress = func(net.Addr) bool { return true }
	so.ConnContext = m.door.enter
	// A connection comes as soon as its first packets make sense. While TLS goes on it has one of the
	// places of package wireup, and pays for others as any stranger.
	if so.listener, err = so.ListenEarly(m.tls, m.config); err != nil {
		so.close()
		return nil, 0, err
	}
	return so, udp.LocalAddr().(*net.UDPAddr).AddrPort().Port(), nil
}

func (so *socket) close() {
	_ = so.Transport.Close() // nothing is open any more
	_ = so.Conn.Close()
}

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{} }

// Close implements [btl.Module].
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	m.Wire.Close()
	m.group.Close()
	for _, so := range m.sockets {
		so.close()
	}
	return nil
}
