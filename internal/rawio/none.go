//go:build !unix

package rawio

import (
	"net/netip"
	"os"
	"syscall"
	"time"
)

// Supported says whether this system has what the package needs.
const Supported = false

var unsupported = os.NewSyscallError("socket", syscall.ENOSYS)

func recv(int, []byte) (int, syscall.Errno)   { return 0, syscall.ENOSYS }
func send(int, []byte) (int, syscall.Errno)   { return 0, syscall.ENOSYS }
func sendv(int, *Vector) (int, syscall.Errno) { return 0, syscall.ENOSYS }

// A Vector is a reusable list of pieces for one [Conn.Sendv].
type Vector struct{ n, size int }

// Reset empties the vector.
func (v *Vector) Reset() {}

// Add reports that there is no room.
func (v *Vector) Add([]byte) bool { return false }

func (v *Vector) length(int) int { return 0 }

func (v *Vector) cut(int, int) {}

func (v *Vector) drop(int) {}

func (v *Vector) each(int, func([]byte)) {}

// The functions below do nothing. Those that return an error say that the system is not supported.

func Listen(netip.AddrPort, int) (int, error)                   { return -1, unsupported }
func Stream(netip.AddrPort) (int, error)                        { return -1, unsupported }
func Connect(int, netip.Addr, netip.AddrPort) (bool, error)     { return false, unsupported }
func Accept(int) (int, netip.AddrPort, error)                   { return -1, netip.AddrPort{}, unsupported }
func SocketError(int) error                                     { return unsupported }
func LocalAddr(int) netip.AddrPort                              { return netip.AddrPort{} }
func ShutdownWrite(int)                                         {}
func Reset(int)                                                 {}
func Close(int)                                                 {}
func SetNoDelay(int, bool) error                                { return unsupported }
func SetSendBuffer(int, int) error                              { return unsupported }
func SetReceiveBuffer(int, int) error                           { return unsupported }
func SetSegment(int, int) error                                 { return unsupported }
func SetKeepalive(int, time.Duration, time.Duration, int) error { return unsupported }
func SetUserTimeout(int, time.Duration) error                   { return unsupported }
func SetCongestion(int, string) error                           { return unsupported }
func Congestion(int) string                                     { return "" }
func SetUnsent(int, int) error                                  { return unsupported }
func Unacknowledged(int) int                                    { return -1 }
func WaitAny([]int, int)                                        {}
