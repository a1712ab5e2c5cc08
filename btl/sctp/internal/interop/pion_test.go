package interop

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/pion/logging"
	"github.com/pion/sctp"
	"github.com/stretchr/testify/require"
)

func closed(err error) bool { return errors.Is(err, net.ErrClosed) }

// pion is pion/sctp as a peer.
type pion struct{}

func (pion) name() string    { return "pion/sctp 1.11.3" }
func (pion) need(testing.TB) {}
func (pion) encap() int      { return 0 }
func (pion) most() int       { return 0 }
func (pion) lastWord() byte  { return 0 }
func (pion) lacks(weOpen bool) lack {
	const paths = "1.11.3 has one connection"
	l := lack{"multihoming": paths, "heartbeat failover": paths}
	if weOpen {
		l["restart"] = "1.11.3 takes no INIT once it has an association"
	}
	return l
}

func (p pion) listen(t testing.TB, at place) uint16 {
	c := socket(t, at.addrs[0])
	run := p.start(t, &first{UDPConn: c}, true)
	t.Cleanup(run)
	return port(c)
}

func (p pion) open(t testing.TB, _ place, to ...netip.AddrPort) (kill func()) {
	c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to[0]))
	require.NoError(t, err)
	return p.start(t, c, false)
}

// first is a socket that belongs to whoever sends first.
type first struct {
	*net.UDPConn
	mu   sync.Mutex
	peer netip.AddrPort
}

func (f *first) Read(b []byte) (int, error) {
	n, from, err := f.ReadFromUDPAddrPort(b)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.peer = from
	}
	return n, err
}

func (f *first) Write(b []byte) (int, error) {
	f.mu.Lock()
	to := f.peer
	f.mu.Unlock()
	return f.WriteToUDPAddrPort(b, to)
}

// quiet has pion say nothing.
var quiet = &logging.DefaultLoggerFactory{Writer: io.Discard}

// start runs an association. What it returns ends it without a word.
func (pion) start(t testing.TB, c net.Conn, listens bool) (kill func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Add(1)
	go func() {
		defer running.Done()
		common := []sctp.AssociationOption{sctp.WithNetConn(c), sctp.WithLoggerFactory(quiet), sctp.WithEnableInterleaving(true),
			sctp.WithMaxReceiveBufferSize(4 << 20), sctp.WithMaxMessageSize(1 << 20), sctp.WithMTU(1400), sctp.WithBlockWrite(true),
			sctp.WithEnableZeroChecksum(true), sctp.WithRTOMax(100)} // of at least 1 s otherwise
		a, err := associate(ctx, listens, common)
		if err != nil {
			return
		}
		s := &pionService{a: a, streams: make(map[uint16]*sctp.Stream), counted: make(chan struct{}, 1)}
		s.serve(&running)
	}()
	once := sync.OnceFunc(func() {
		cancel()
		_ = c.Close()
		running.Wait()
	})
	t.Cleanup(once)
	return once
}

func associate(ctx context.Context, listens bool, common []sctp.AssociationOption) (*sctp.Association, error) {
	if listens {
		var opts []sctp.ServerOption
		for _, o := range common {
			opts = append(opts, o)
		}
		return sctp.ServerWithOptions(opts...)
	}
	var opts []sctp.ClientOption
	for _, o := range common {
		opts = append(opts, o)
	}
	return sctp.ClientContext(ctx, opts...)
}

// pionService is the service on pion's streams, each with a goroutine that reads it.
type pionService struct {
	a       *sctp.Association
	mu      sync.Mutex // of the service
	ways    sync.Mutex
	streams map[uint16]*sctp.Stream
	counted chan struct{}
}

func (p *pionService) stream(id uint16) *sctp.Stream {
	p.ways.Lock()
	defer p.ways.Unlock()
	if s := p.streams[id]; s != nil {
		return s
	}
	s, err := p.a.OpenStream(id, 7)
	if err != nil {
		return nil
	}
	p.streams[id] = s
	return s
}

func (p *pionService) serve(running *sync.WaitGroup) {
	s := &service{
		send: func(id uint16, b []byte) {
			if st := p.stream(id); st != nil {
				_, _ = st.WriteSCTP(b, 7)
			}
		},
		abort: func() { p.a.Abort("as it was told") },
		quit:  func() { _ = p.a.Shutdown(context.Background()) },
	}
	for {
		st, err := p.a.AcceptStream()
		if err != nil {
			return
		}
		p.ways.Lock()
		p.streams[st.StreamIdentifier()] = st
		p.ways.Unlock()
		running.Add(1)
		go func() {
			defer running.Done()
			p.read(st, s, running)
		}()
	}
}

func (p *pionService) read(st *sctp.Stream, s *service, running *sync.WaitGroup) {
	b := make([]byte, 1<<20)
	for {
		n, _, err := st.ReadSCTP(b)
		if err != nil {
			return
		}
		m := append([]byte(nil), b[:n]...)
		if m[0] == askGenerate || m[0] == askAbort || m[0] == askQuit { // they wait for what is read here
			running.Add(1)
			go func() {
				defer running.Done()
				s.act(st.StreamIdentifier(), m)
			}()
			continue
		}
		p.mu.Lock()
		s.act(st.StreamIdentifier(), m)
		p.mu.Unlock()
	}
}
