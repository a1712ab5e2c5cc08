//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options of a socket, for all its associations. Zero leaves the system's
// default.
type Options struct {
	// SendBuffer and ReceiveBuffer are in bytes; the kernel doubles them for its own
	// needs. Without privileges net.core.wmem_max and rmem_max bound them, silently:
	// [Socket.SendBuffer] and [Socket.ReceiveBuffer] say what was got.
	SendBuffer, ReceiveBuffer int
	// Streams is how many to ask for in each direction. InitAttempts bounds the INITs
	// that are sent for an association to come up.
	Streams      int
	InitAttempts int
	InitTimeout  time.Duration // the longest pause between two attempts
	// NoDelay sends small messages at once.
	NoDelay bool
	// RTOInitial, RTOMin and RTOMax bound the time to a retransmission.
	RTOInitial, RTOMin, RTOMax time.Duration
	// AssocMaxRetrans and PathMaxRetrans are how many retransmissions in a row may be
	// unanswered before an association, or a path, is down.
	AssocMaxRetrans, PathMaxRetrans int
	// Heartbeat is the time between two heartbeats on an idle path.
	Heartbeat time.Duration
	// Autoclose shuts an association down that was idle for so long, in whole
	// seconds.
	Autoclose time.Duration
	// FragmentInterleave lets pieces of a message come between pieces of others: with 1
	// of other associations, with 2 of other streams too.
	FragmentInterleave int
	// Interleave messages on the wire (I-DATA, RFC 8260); it needs FragmentInterleave.
	Interleave bool
	// Scheduler of the streams.
	Scheduler Scheduler
	// EncapPort is the UDP port of the peers' kernels (RFC 6951).
	EncapPort uint16
	// Events to be notified of.
	Events []Kind
}

// Scheduler says which stream's message goes next (RFC 8260, section 3).
type Scheduler int

const (
	FirstCome    Scheduler = iota // in the order of sending
	Priority                      // lower values of [Socket.SetPriority] first
	RoundRobin                    // the streams in turn
	Fair                          // by bytes; Linux 6.4
	FairWeighted                  // by bytes and weights; Linux 6.4
)

// Numbers of socket options, linux/sctp.h.
const (
	optRTOInfo            = 0
	optAssocInfo          = 1
	optInitMsg            = 2
	optNoDelay            = 3
	optAutoclose          = 4
	optPeerAddrParams     = 9
	optStatus             = 14
	optPeerAddrInfo       = 15
	optFragmentInterleave = 18
	optRecvRcvInfo        = 32
	optAssocStats         = 112
	optStreamScheduler    = 123
	optSchedulerValue     = 124
	optInterleaving       = 125
	optEvent              = 127
	optRemoteEncapsPort   = 132
)

// set passes an option's bytes to the kernel.
func (s *Socket) set(name string, option int, value []byte) error {
	if len(value) == 0 {
		return fmt.Errorf("setsockopt %s: nothing to set", name)
	}
	_, _, errno := syscall.Syscall6(unix.SYS_SETSOCKOPT, uintptr(s.fd), solSCTP, uintptr(option),
		uintptr(unsafe.Pointer(&value[0])), uintptr(len(value)), 0)
	return errnoErr("setsockopt "+name, errno)
}

// get makes the kernel fill in value, and returns how much it has written. The
// beginning of value may say what is asked for.
func (s *Socket) get(name string, option int, value []byte) (int, error) {
	size := uint32(len(value))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), solSCTP, uintptr(option),
		uintptr(unsafe.Pointer(&value[0])), uintptr(unsafe.Pointer(&size)), 0)
	return min(int(size), len(value)), errnoErr("getsockopt "+name, errno)
}

// apply sets all options, the buffers first: peers are told their sizes as of when
// the socket is bound and connected.
func (s *Socket) apply(o Options) error {
	if err := s.setBuffers(o); err != nil {
		return err
	}
	for _, p := range o.protocol() {
		if err := s.set(p.name, p.number, p.value); err != nil {
			return &OptionError{Option: p.name, Value: p.text, Err: errors.Unwrap(err), Remedy: p.remedy}
		}
	}
	for _, kind := range o.Events {
		if err := s.Subscribe(0, kind, true); err != nil {
			return err
		}
	}
	return nil
}

func (s *Socket) setBuffers(o Options) error {
	for _, b := range []struct {
		name          string
		force, option int
		size          int
	}{
		{"SO_SNDBUF", unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, o.SendBuffer},
		{"SO_RCVBUF", unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, o.ReceiveBuffer},
	} {
		if b.size == 0 || unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, b.force, b.size) == nil {
			continue
		}
		if err := unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, b.option, b.size); err != nil {
			return &OptionError{Option: b.name, Value: fmt.Sprint(b.size), Err: err}
		}
	}
	return nil
}

// An option is one to be set, and how to explain it.
type option struct {
	name   string
	number int
	value  []byte
	text   string
	remedy string
}

// words makes an option's value of 32-bit numbers.
func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	return b
}

// halves makes one of 16-bit numbers.
func halves(v ...int) []byte {
	var b []byte
	for _, h := range v {
		b = binary.NativeEndian.AppendUint16(b, uint16(min(max(h, 0), math.MaxUint16)))
	}
	return b
}

func milliseconds(d time.Duration) uint32 {
	return uint32(min((d+time.Millisecond-1)/time.Millisecond, math.MaxInt32))
}

// SendBuffer returns how much the socket's send buffer holds, in bytes as
// [Charge] counts.
func (s *Socket) SendBuffer() (int, error) {
	n, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	return n, os.NewSyscallError("getsockopt SO_SNDBUF", err)
}

// ReceiveBuffer returns how much the socket's receive buffer holds.
func (s *Socket) ReceiveBuffer() (int, error) {
	n, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return n, os.NewSyscallError("getsockopt SO_RCVBUF", err)
}

// memInfo is what SO_MEMINFO tells, by the constants of linux/sock_diag.h.
const (
	memQueued = 5 // SK_MEMINFO_WMEM_QUEUED
	memCount  = 9
)

// Queued returns how much of the send buffer is taken, by all associations
// together.
func (s *Socket) Queued() (int, error) {
	var info [memCount]uint32
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(unix.SYS_GETSOCKOPT, uintptr(s.fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	return int(info[memQueued]), errnoErr("getsockopt SO_MEMINFO", errno)
}
