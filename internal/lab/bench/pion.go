package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/pion/logging"
	"github.com/pion/sctp"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// PionOptions are those of pion/sctp alone: what the user stack of Strand's SCTP
// would take on the loopback, so that the difference is the library and not the
// size of its packets.
type PionOptions struct {
	MTU         int // bytes
	Buffer      int // of the association's receive window, and of the socket in both directions
	Outstanding int // bytes: more waits for acknowledgements
	Interleave  bool
}

const (
	// pionBuffer is what Strand's user stack takes if it is not told.
	pionBuffer = 4 << 20
	pionStream = 1
)

func pionOptions(params *param.Values) PionOptions {
	o := PionOptions{
		MTU:         params.Int("btl_sctp_mtu_loopback"),
		Buffer:      int(params.Size("btl_sctp_rcvbuf")),
		Outstanding: int(params.Size("btl_sctp_outstanding")),
		Interleave:  params.String("btl_sctp_interleave") != "off",
	}
	if o.Buffer == 0 {
		o.Buffer = pionBuffer
	}
	return o
}

func (o PionOptions) describe() string {
	s := fmt.Sprintf("two associations of pion/sctp over connected sockets of UDP, one goroutine at each end, one stream, packets of %d bytes, buffers of %d, at most %d bytes under way",
		o.MTU, o.Buffer, o.Outstanding)
	if o.Interleave {
		s += ", I-DATA"
	}
	return s
}

// pionLink is one stream of pion's, as its examples have it: a goroutine writes, and
// blocks in Read.
type pionLink struct {
	stream  *sctp.Stream
	options PionOptions
	room    chan struct{}
}

func newPionLink(s *sctp.Stream, o PionOptions) *pionLink {
	l := &pionLink{stream: s, options: o, room: make(chan struct{}, 1)}
	s.SetBufferedAmountLowThreshold(uint64(o.Outstanding) * 3 / 4)
	s.OnBufferedAmountLow(func() {
		select {
		case l.room <- struct{}{}:
		default:
		}
	})
	return l
}

func (l *pionLink) send(b []byte) error {
	if len(b) > l.options.Buffer/2 {
		return fmt.Errorf("pion/sctp: a message of %d bytes would fill the receive buffer of %d: raise btl_sctp_rcvbuf", len(b), l.options.Buffer)
	}
	for l.stream.BufferedAmount() > uint64(l.options.Outstanding) {
		<-l.room // pion itself takes whatever it is given
	}
	_, err := l.stream.WriteSCTP(b, sctp.PayloadTypeWebRTCBinary)
	return err
}

func (l *pionLink) recv(b []byte) error {
	n, err := l.stream.Read(b)
	if err == nil && n != len(b) {
		return fmt.Errorf("pion/sctp: a message of %d bytes, want %d", n, len(b))
	}
	return err
}

// pionMember is one of two processes.
func pionMember(ctx context.Context, spec memberSpec) (err error) {
	job, err := launch.FromEnvironment(ctx)
	if err != nil {
		return err
	}
	conn, err := connectUDP(ctx, job, *spec.Pion)
	if err != nil {
		return err
	}
	association, err := associatePion(ctx, job, conn, *spec.Pion)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	stream, err := association.OpenStream(pionStream, sctp.PayloadTypeWebRTCBinary)
	if err == nil {
		err = takeOrders(ctx, spec.Socket, job.Rank(), &rawTraffic{link: newPionLink(stream, *spec.Pion), first: job.Rank() == 0})
	}
	return errors.Join(err, association.Close(), job.Close())
}

// pionKey is where the processes publish their addresses.
const pionKey = "bench-pion-"

// connectUDP joins two sockets of UDP over the loopback.
func connectUDP(ctx context.Context, job launch.Job, o PionOptions) (*net.UDPConn, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	err = errors.Join(conn.SetReadBuffer(o.Buffer), conn.SetWriteBuffer(o.Buffer))
	if err == nil {
		err = job.Put(ctx, fmt.Sprint(pionKey, job.Rank()), conn.LocalAddr().String())
	}
	if err == nil {
		err = job.Barrier(ctx)
	}
	var peer string
	if err == nil {
		peer, err = job.Get(ctx, fmt.Sprint(pionKey, 1-job.Rank()))
	}
	if err == nil {
		err = setPeer(conn, peer)
	}
	if err == nil {
		err = job.Barrier(ctx) // nobody speaks before both can hear
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// setPeer connects a socket that has a port already.
func setPeer(conn *net.UDPConn, peer string) error {
	to, err := netip.ParseAddrPort(peer)
	if err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.Connect(int(fd), &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
	})
	return errors.Join(err, failed)
}

// associatePion makes the association, rank 0 being the server.
func associatePion(ctx context.Context, job launch.Job, conn net.Conn, o PionOptions) (*sctp.Association, error) {
	options := []sctp.AssociationOption{
		sctp.WithNetConn(conn), sctp.WithMTU(uint32(o.MTU)), sctp.WithMaxReceiveBufferSize(uint32(o.Buffer)),
		sctp.WithMaxMessageSize(maxSize), sctp.WithEnableInterleaving(o.Interleave),
		sctp.WithLoggerFactory(&logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}),
	}
	if job.Rank() == 0 {
		// The server's side has no context of its own.
		stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		defer stop()
		var server []sctp.ServerOption
		for _, o := range options {
			server = append(server, o)
		}
		return sctp.ServerWithOptions(server...)
	}
	var client []sctp.ClientOption
	for _, o := range options {
		client = append(client, o)
	}
	return sctp.ClientContext(ctx, client...)
}
