package rawio

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FlowOf asks how the system's congestion control sees a connection (TCP_INFO, tcp(7)).
// False means that it does not tell.
func FlowOf(fd int) (Flow, bool) {
	var info unix.TCPInfo
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 || uintptr(size) < unsafe.Offsetof(info.Pacing_rate) {
		return Flow{}, false
	}
	f := Flow{
		Algorithm: Congestion(fd),
		Window:    int(info.Snd_cwnd) * int(info.Snd_mss),
		RoundTrip: time.Duration(info.Rtt) * time.Microsecond,
		Timeout:   time.Duration(info.Rto) * time.Microsecond,
		Resent:    int64(info.Total_retrans),
		Timeouts:  -1,
	}
	if uintptr(size) >= unsafe.Offsetof(info.Snd_wnd)+unsafe.Sizeof(info.Snd_wnd) { // Linux 5.4
		// The peer has a say too. One that takes nothing is still asked, with a byte.
		f.Window = max(1, min(f.Window, int(info.Snd_wnd)))
	}
	if uintptr(size) >= unsafe.Offsetof(info.Total_rto_recoveries) { // Linux 6.7
		f.Timeouts = int64(info.Total_rto)
	}
	return f, true
}
