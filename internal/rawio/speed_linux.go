package rawio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// appLimited is the bit that says that the delivery rate was measured while there was too little to send, and deliveryFlags
// the place of its byte in struct tcp_info. Package unix does not name it.
const (
	appLimited    = 1
	deliveryFlags = 7
)

// SpeedOf is the bytes a second that a connection's peer has lately confirmed while there was more to send. 0 means that the system
// does not know, or does not tell.
func SpeedOf(fd int) int64 {
	var info unix.TCPInfo
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 || uintptr(size) < unsafe.Offsetof(info.Busy_time) { // Linux 4.9
		return 0
	}
	if *(*byte)(unsafe.Add(unsafe.Pointer(&info), deliveryFlags))&appLimited != 0 {
		return 0
	}
	return int64(info.Delivery_rate)
}
