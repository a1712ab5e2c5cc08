package datagram

import (
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
)

// Send sends one packet. It returns why the system has not taken it: it is as if lost. EAGAIN says that there was no room.
func (s *Socket) Send(b []byte, to *rawio.Destination) syscall.Errno {
	if s.closed {
		return 0
	}
	errno := rawio.SendTo(s.fd, b, to)
	if errno != 0 && errno != syscall.EAGAIN {
		errno = rawio.SendTo(s.fd, b, to) // the error may be the network's answer to an earlier packet
	}
	return errno
}

// SendCut sends one packet, as Send does, that the network may cut up.
func (s *Socket) SendCut(b []byte, to *rawio.Destination) syscall.Errno {
	if s.closed {
		return 0
	}
	v6 := s.Local.Addr().Is6()
	errno := rawio.SendCut(s.fd, b, to, v6)
	if errno != 0 && errno != syscall.EAGAIN {
		errno = rawio.SendCut(s.fd, b, to, v6) // as in Send
	}
	return errno
}

// NoWay reports whether a send was refused since the system knows no way to its destination, or lets nothing go there. What has no room, or is too
// long, may get there another time.
func NoWay(errno syscall.Errno) bool {
	switch errno {
	case syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EPERM, syscall.EACCES, syscall.EADDRNOTAVAIL, syscall.EINVAL:
		return true
	}
	return false
}

// SendBatch sends what Packets holds. It returns how many of the packets the system has taken, and, if
// these are not all, why.
func (s *Socket) SendBatch() (n int, errno syscall.Errno) {
	if s.closed {
		return 0, syscall.EBADF
	}
	n, errno = s.Packets.Send(s.fd)
	if n == 0 && errno != 0 && errno != syscall.EAGAIN {
		n, errno = s.Packets.Send(s.fd) // the error may be the network's answer to an earlier packet, of any peer
	}
	return n, errno
}

// Block has w go on when the system has room again. The waiter sees to it that it is not given twice.
func (s *Socket) Block(w Waiter) {
	s.blocked = append(s.blocked, w)
	s.watch.Write(true)
}

// goOn has those go on that wait for room. Who is first may take all that there is, and be back before the others have had any: the next time it is
// the last.
func (s *Socket) goOn() (did bool) {
	if len(s.blocked) == 0 || s.closed {
		return false
	}
	waiting := len(s.blocked)
	for i := range waiting {
		did = s.blocked[i].Resume() || did // who finds no room appends itself
	}
	s.blocked = slices.Delete(s.blocked, 0, waiting)
	if last := len(s.blocked) - 1; last > 0 {
		first := s.blocked[0]
		copy(s.blocked, s.blocked[1:])
		s.blocked[last] = first
	}
	if !s.closed {
		s.watch.Write(len(s.blocked) > 0)
	}
	return did
}

// Wait waits until something has come to one of the sockets, or so many milliseconds. It is for the end, when
// the loop stands still, and does not say either that the system has room again: those that wait for that try.
func Wait(milliseconds int, sockets ...*Socket) {
	var fds []int
	for _, s := range sockets {
		if !s.closed {
			fds = append(fds, s.fd)
		}
	}
	rawio.WaitAny(fds, milliseconds)
	for _, s := range sockets {
		if s.owner == nil {
			continue // it is not served yet: nobody hears what there is
		}
		s.failures()
		s.goOn()
	}
}
