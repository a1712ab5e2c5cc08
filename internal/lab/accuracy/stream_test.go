//go:build linux

package accuracy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/network"
)

// A stream is a TCP connection from host 0 to host 1 that sends all it can.
type stream struct {
	near, far net.Conn
	received  atomic.Int64 // bytes
	over      sync.WaitGroup
}

const (
	connectTimeout = 30 * time.Second
	streamBuffer   = 64 << 10
)

func newStream(n *network.Network, congestion string) (*stream, error) {
	s := new(stream)
	if err := s.connect(n, congestion); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.over.Go(func() {
		for buf := make([]byte, streamBuffer); ; {
			if _, err := s.near.Write(buf); err != nil {
				return // it was closed
			}
		}
	})
	s.over.Go(func() {
		for buf := make([]byte, streamBuffer); ; {
			k, err := s.far.Read(buf)
			s.received.Add(int64(k))
			if err != nil {
				return
			}
		}
	})
	return s, nil
}

// connect makes both ends, with the congestion control that was chosen.
func (s *stream) connect(n *network.Network, congestion string) error {
	var l net.Listener
	err := n.Host(1).Do(func() (err error) {
		l, err = net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(n.Host(1).Addr(), 0)))
		return err
	})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: connectTimeout, Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		controlErr := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
		})
		if err = errors.Join(controlErr, err); err != nil {
			return fmt.Errorf("TCP congestion control %s: %w", congestion, err)
		}
		return nil
	}}
	if err := n.Host(0).Do(func() (err error) { s.near, err = dialer.Dial("tcp4", l.Addr().String()); return err }); err != nil {
		return err
	}
	s.far, err = l.Accept()
	return err
}

// close ends the connection; what it has under way is lost.
func (s *stream) close() error {
	var errs []error
	for _, c := range []net.Conn{s.near, s.far} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	s.over.Wait()
	return errors.Join(errs...)
}
