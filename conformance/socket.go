package conformance

import (
	"io"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// The hooks of a [Subject] are called as calls by these names.
const (
	severing       = "severing"
	injecting      = "injecting"
	findingSockets = "finding sockets"
)

// From outside, the suite gets at a transport by the sockets that the rank's
// modules have given to the loop, unless the subject has hooks.

func option(fd, name int) int {
	v, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, name)
	if err != nil {
		return -1
	}
	return v
}

func isListener(fd int) bool { return option(fd, unix.SO_ACCEPTCONN) == 1 }

// isConnected reports whether a descriptor is a socket of one connection: a stream, or packets
// within this host. A socket of packets of SCTP may have many connections.
func isConnected(fd int) bool {
	peer, err := unix.Getpeername(fd)
	if err != nil {
		return false
	}
	_, within := peer.(*unix.SockaddrUnix)
	kind := option(fd, unix.SO_TYPE)
	return kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET && within
}

// sever cuts the connection of an endpoint. Without the subject's hook it shuts down
// sockets, which cuts all connections of the rank.
func (p *port) sever() {
	if !p.cut() {
		p.w.t.skip("no connection can be cut: the module watches no connected socket, and the subject has no Sever")
	}
}

// cut is sever where that is not all that a case is about. It reports whether anything could be cut.
func (p *port) cut() bool {
	cut := 0
	var err error
	p.r.do(severing, func() {
		if hook := p.w.subject.Sever; hook != nil {
			cut, err = 1, hook(p.ep)
			return
		}
		for _, fd := range p.r.loop.sockets() {
			if isConnected(fd) && unix.Shutdown(fd, unix.SHUT_RDWR) == nil {
				cut++
			}
		}
	})
	if err != nil {
		p.w.t.fail(ruleOpen, "the subject's Sever: %v", err)
	}
	return cut > 0
}

// inject sends bytes to the endpoint's peer behind the endpoint's back. Without the subject's hook
// they go over all connections of the rank. It reports whether any may arrive.
func (p *port) inject(b []byte) (sent bool) {
	var ports []unix.Sockaddr
	peer := p.w.ranks[p.peer]
	peer.do(findingSockets, func() {
		for _, fd := range peer.loop.sockets() {
			if at := datagramPort(fd); at != nil {
				ports = append(ports, at)
			}
		}
	})
	var err error
	p.r.do(injecting, func() {
		if hook := p.w.subject.Inject; hook != nil {
			sent, err = true, hook(p.ep, b)
			return
		}
		for _, fd := range p.r.loop.sockets() {
			if isConnected(fd) {
				n, err := unix.Write(fd, b)
				sent = sent || (err == nil && n > 0)
			}
			for _, to := range ports {
				sent = datagramPort(fd) != nil && unix.Sendto(fd, b, 0, to) == nil || sent
			}
		}
	})
	if err != nil {
		p.w.t.fail(ruleOpen, "the subject's Inject: %v", err)
	}
	return sent
}

// datagramPort is the address at which this host reaches a datagram socket of its own; nil for other
// sockets.
func datagramPort(fd int) unix.Sockaddr {
	if option(fd, unix.SO_TYPE) != unix.SOCK_DGRAM {
		return nil
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return nil
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		if sa.Addr == [4]byte{} {
			sa.Addr = [4]byte{127, 0, 0, 1}
		}
	case *unix.SockaddrInet6:
		if sa.Addr == [16]byte{} {
			sa.Addr = [16]byte{15: 1}
		}
	}
	return sa
}

// strangers connects to each place where the rank can be reached.
func (r *rank) strangers() []io.WriteCloser {
	var all []io.WriteCloser
	if hook := r.w.subject.Wire; hook != nil {
		for _, m := range r.modules {
			c, err := hook(m.Address())
			if err != nil {
				r.w.t.fail(ruleOpen, "the subject's Wire: %v", err)
			}
			all = append(all, c)
		}
		return all
	}
	var places [][2]string
	r.do(findingSockets, func() {
		for _, fd := range r.loop.sockets() {
			if network, address := place(fd); network != "" {
				places = append(places, [2]string{network, address})
			}
		}
	})
	for _, at := range places {
		if c, err := net.Dial(at[0], at[1]); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// place says how to reach a socket, if it can be reached.
func place(fd int) (network, address string) {
	switch {
	case isListener(fd):
		network = "tcp"
	case option(fd, unix.SO_TYPE) == unix.SOCK_DGRAM:
		network = "udp"
	default:
		return "", ""
	}
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return "", ""
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return network, net.JoinHostPort(dialable(sa.Addr[:]), strconv.Itoa(sa.Port))
	case *unix.SockaddrInet6:
		return network, net.JoinHostPort(dialable(sa.Addr[:]), strconv.Itoa(sa.Port))
	case *unix.SockaddrUnix:
		return unixNetwork(fd), sa.Name
	}
	return "", ""
}

// unixNetwork is what package net calls a kind of Unix-domain socket.
func unixNetwork(fd int) string {
	switch option(fd, unix.SO_TYPE) {
	case unix.SOCK_SEQPACKET:
		return "unixpacket"
	case unix.SOCK_DGRAM:
		return "unixgram"
	}
	return "unix"
}

// dialable is an address, or loopback for "any".
func dialable(ip net.IP) string {
	if !ip.IsUnspecified() {
		return ip.String()
	}
	if ip.To4() != nil && len(ip) == net.IPv4len {
		return "127.0.0.1"
	}
	return "::1"
}
