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
	size, ok := infoOf(fd, &info)
	if !ok || size < unsafe.Offsetof(info.Pacing_rate) {
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
	if size >= unsafe.Offsetof(info.Snd_wnd)+unsafe.Sizeof(info.Snd_wnd) { // Linux 5.4
		// The peer has a say too. One that takes nothing is still asked, with a byte.
		f.Window = max(1, min(f.Window, int(info.Snd_wnd)))
	}
	if size >= unsafe.Offsetof(info.Total_rto_recoveries) { // Linux 6.7
		f.Timeouts = int64(info.Total_rto)
	}
	return f, true
}

// infoOf asks for TCP_INFO, and returns how many bytes of it this system knows.
func infoOf(fd int, info *unix.TCPInfo) (size uintptr, ok bool) {
	n := uint32(unsafe.Sizeof(*info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&n)), 0)
	return uintptr(n), errno == 0
}

// StallOf asks what becomes of what was sent (TCP_INFO, tcp(7)). False means that the system does not tell.
func StallOf(fd int) (Stall, bool) {
	var info unix.TCPInfo
	size, ok := infoOf(fd, &info)
	if !ok || size < unsafe.Offsetof(info.Bytes_received) { // Linux 4.1
		return Stall{}, false
	}
	return Stall{
		UnderWay:  max(0, Unacknowledged(fd)),
		Resent:    int(info.Retransmits),
		Segment:   int(info.Snd_mss),
		Closed:    info.Probes > 0,
		Silent:    time.Duration(min(info.Last_data_recv, info.Last_ack_recv)) * time.Millisecond,
		Confirmed: int64(info.Bytes_acked),
	}, true
}
