//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// msgNotification is MSG_NOTIFICATION.
const msgNotification = 0x8000

// scatter is where a message is received. It lives on the heap, where the kernel
// may be pointed to.
type scatter struct {
	iov     unix.Iovec
	msg     unix.Msghdr
	control struct {
		header unix.Cmsghdr
		info   rcvInfo
		_      [64]byte // others that may be switched on some day
	}
}

// rcvInfo is struct sctp_rcvinfo.
type rcvInfo struct {
	stream, ssn, flags, _ uint16
	ppid                  uint32 // as it came over the wire
	tsn, cumTSN, context  uint32
	assoc                 int32
}

// Receive reads a message, or as much of it as fits into b, or a notification; b must
// not be empty. EAGAIN means that there is nothing to read now. EBADMSG means that the
// kernel did not say what was read; it is lost. Any other errno belongs to some
// association: a notification tells to which.
func (s *Socket) Receive(b []byte) (int, RecvInfo, syscall.Errno) {
	r := &s.in
	for {
		r.iov.Base = unsafe.SliceData(b)
		r.iov.SetLen(len(b))
		r.msg.Iov = &r.iov
		r.msg.SetIovlen(1)
		r.msg.Control = (*byte)(unsafe.Pointer(&r.control))
		r.msg.SetControllen(int(unsafe.Sizeof(r.control)))
		r.msg.Flags = 0
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(s.fd),
			uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		r.iov.Base = nil
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return 0, RecvInfo{}, errno
		}
		info, ok := r.info()
		if !ok {
			return 0, RecvInfo{}, syscall.EBADMSG
		}
		return int(n), info, 0
	}
}

// info reads the control message, of which the kernel sends one kind.
func (r *scatter) info() (RecvInfo, bool) {
	end := r.msg.Flags&unix.MSG_EOR != 0
	if r.msg.Flags&msgNotification != 0 {
		return RecvInfo{Notification: true, End: end}, true
	}
	h := &r.control.header
	if int(r.msg.Controllen) < unix.CmsgLen(int(unsafe.Sizeof(r.control.info))) || h.Level != solSCTP || h.Type != controlRcvInfo {
		return RecvInfo{}, false
	}
	i := &r.control.info
	return RecvInfo{Assoc: AssocID(i.assoc), Stream: i.stream, PPID: wireOrder(i.ppid), SSN: i.ssn, End: end}, true
}
