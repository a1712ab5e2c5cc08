package datagram

import (
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
)

// Send sends one packet. It reports whether there was room for it: without, it is as if lost.
func (s *Socket) Send(b []byte, to *rawio.Destination) (room bool) {
	if s.closed {
		return true
	}
	errno := rawio.SendTo(s.fd, b, to)
	if errno != 0 && errno != syscall.EAGAIN {
		errno = rawio.SendTo(s.fd, b, to) // the error may be the network's answer to an earlier packet
	}
	return errno != syscall.EAGAIN
}

// SendCut sends one packet, as Send does, that the network may cut up.
func (s *Socket) SendCut(b []byte, to *rawio.Destination) {
	if s.closed {
		return
	}
	v6 := s.Local.Addr().Is6()
	if errno := rawio.SendCut(s.fd, b, to, v6); errno != 0 && errno != syscall.EAGAIN {
		_ = rawio.SendCut(s.fd, b, to, v6) // as in Send
	}
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

// goOn has those go on that wait for room.
func (s *Socket) goOn() (did bool) {
	if len(s.blocked) == 0 || s.closed {
		return false
	}
	waiting := s.blocked
	s.blocked = nil
	s.watch.Write(false)
	for _, w := range waiting {
		did = w.Resume() || did
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
