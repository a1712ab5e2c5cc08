package wireup

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/param"
)

// ErrNoGoodbye is for the error of a connection whose peer has ended it without saying so.
var ErrNoGoodbye = errors.New("without a goodbye")

// ErrForeign is for an attempt whose other end speaks something else than this handshake
// ([Pending.Ended]). Where the last attempt ends so too, the way is not tried again, as it would fare no better.
var ErrForeign = handshake.ErrMagic

// remedy says what can be done about a failure of a connection, and where an attempt took too long which parameter gives it more time.
func (c *Conn) remedy(err error) string {
	advice, limit := c.advice(err), ""
	if errors.Is(err, syscall.ETIMEDOUT) {
		limit = c.limit()
	}
	switch {
	case limit == "":
		return advice
	case advice != "":
		advice += "; "
	}
	return advice + fmt.Sprintf("if rank %d is only slow, raise %s", c.slot.key.rank, limit)
}

// limit is the parameter that bounds the present step of an attempt, "" if there is none. A transport may have one for both steps.
func (c *Conn) limit() string {
	var names []string
	switch c.state {
	case ConnectAck:
		names = []string{c.m.Prefix + handshakeTimeout, c.m.Prefix + connectTimeout}
	case Connecting:
		names = []string{c.m.Prefix + connectTimeout}
	}
	for _, name := range names {
		if slices.ContainsFunc(c.m.host.Params().All(), func(v param.Value) bool { return v.Spec.Name == name }) {
			return name
		}
	}
	return ""
}

func (c *Conn) advice(err error) string {
	peer, at := c.slot.key.rank, "there"
	var target netip.AddrPort
	if t, ok := c.way.(interface{ Target() netip.AddrPort }); ok {
		target = t.Target()
	}
	port := target.Port()
	if port != 0 {
		at = fmt.Sprintf("on port %d there", port)
	}
	var refused *handshake.RefusedError
	switch {
	case errors.Is(err, errWordless): // and maybe a reset
		return fmt.Sprintf("do both have the same job and secret? another job may listen %s; see the output of rank %d, which says whom it has dropped, and why", at, peer)
	case errors.As(err, &refused):
		return ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens %s any more, or a firewall rejects it: see whether rank %d has ended", at, peer)
	case errors.Is(err, syscall.ETIMEDOUT) && c.state == Connected:
		return "the network or the peer's host has stopped answering"
	case errors.Is(err, syscall.ETIMEDOUT) && c.state == ConnectAck && c.m.Repeat == 0:
		return fmt.Sprintf("the connection itself was made: is rank %d stopped, or does another program listen %s?", peer, at)
	case target.Addr().IsLinkLocalUnicast() && c.state != Connected && (errors.Is(err, syscall.ETIMEDOUT) || unreachable(err)): // tried where no others lead to the peer
		return fmt.Sprintf("only link-local addresses were thought to lead to rank %d, and they do not tell which links are joined: is a route to its other addresses missing? "+
			"strand reach --try tells of every pair; or a firewall drops packets to port %d", peer, port)
	case errors.Is(err, syscall.ETIMEDOUT) && port != 0:
		return fmt.Sprintf("does a firewall between the hosts drop packets to port %d? allow a range with %s and %s, or choose another network with %s",
			port, c.m.Prefix+portMin, c.m.Prefix+portRange, c.m.Prefix+include)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("the address to connect from is gone, or has no free port: %s, or choose networks with %s or %s", widen, c.m.Prefix+include, c.m.Prefix+exclude)
	case unreachable(err):
		return fmt.Sprintf("there is no way from this address to that one, or a firewall rejects connections %s: choose networks with %s or %s, or allow a range of ports with %s and %s",
			at, c.m.Prefix+include, c.m.Prefix+exclude, c.m.Prefix+portMin, c.m.Prefix+portRange)
	case openfiles.Exhausted(err):
		return openfiles.Remedy(err)
	case errors.Is(err, syscall.EPERM):
		return "a local firewall rule forbids it"
	case errors.Is(err, syscall.EACCES): // so Linux tells a firewall's answer over IPv6 (ICMPv6, administratively prohibited)
		return fmt.Sprintf("a firewall on the way rejects connections %s, or a policy of this host forbids them: allow a range of ports with %s and %s",
			at, c.m.Prefix+portMin, c.m.Prefix+portRange)
	case isOf("connect", err, syscall.EINVAL): // so Linux tells of routes that discard without a word
		return fmt.Sprintf("this host has a route to there that leads nowhere (type blackhole): remove it, or choose networks with %s or %s", c.m.Prefix+include, c.m.Prefix+exclude)
	case errors.Is(err, handshake.ErrProof):
		return fmt.Sprintf("another process of this job listens %s, or somebody is in between: see how the addresses of rank %d are forwarded", at, peer)
	case errors.Is(err, ErrForeign):
		return fmt.Sprintf("another program listens %s", at)
	case errors.Is(err, io.EOF), errors.Is(err, ErrNoGoodbye), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Sprintf("rank %d has probably ended: see its output", peer)
	}
	return ""
}

// unreachable reports whether this system, or one on the way, has answered that there is no way.
func unreachable(err error) bool {
	return errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) ||
		errors.Is(err, syscall.EHOSTDOWN) || // so BSD tells that no host with that address answers
		errors.Is(err, syscall.ENOPROTOOPT) // so Linux tells a firewall's answer that the protocol is unreachable
}

// isOf reports whether a system call has failed for this reason, which from others would mean something else.
func isOf(call string, err, reason error) bool {
	failed, is := errors.AsType[*os.SyscallError](err)
	return is && failed.Syscall == call && errors.Is(failed.Err, reason)
}
