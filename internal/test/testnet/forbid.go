//go:build linux

package testnet

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ForbidNetlink has the kernel refuse netlink sockets from now on, as many a sandbox
// does: to all threads of the process, or to the calling one alone and those that it
// starts. It can not be taken back: one thread is to be locked to its goroutine, and to
// end with it.
func ForbidNetlink(allThreads bool) error {
	return refuse(allThreads,
		load(callAt), unless(unix.SYS_SOCKET, 3),
		load(domainAt), unless(unix.AF_NETLINK, 1),
		answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
}

// ForbidInterfaces forbids netlink, and the older way to ask for interfaces, ioctl, as [ForbidNetlink] does.
func ForbidInterfaces(allThreads bool) error {
	forbidden := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	if err := refuse(allThreads, load(callAt), unless(unix.SYS_IOCTL, 1), forbidden); err != nil {
		return err
	}
	return ForbidNetlink(allThreads)
}

// ForbidIP has the kernel know no sockets but those of Unix from now on, as systemd's RestrictAddressFamilies=AF_UNIX has.
func ForbidIP() error {
	return refuse(true,
		load(callAt), unless(unix.SYS_SOCKET, 3),
		load(domainAt), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AF_UNIX, Jt: 1},
		answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EAFNOSUPPORT)))
}

// ForbidMemfd has the kernel refuse memfd_create to this process from now on, as kernels before 3.17 do.
func ForbidMemfd() error {
	return refuse(true, load(callAt), unless(unix.SYS_MEMFD_CREATE, 1), answer(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))
}

// ForbidMappings has the kernel say from now on that this process has no room to map a file,
// memory that it shares included. A limit of addresses says so too, but Go's own memory
// would meet it first.
func ForbidMappings() error {
	return refuse(true, load(callAt), unless(unix.SYS_MMAP, 3),
		load(fileAt), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 1<<32 - 1, Jt: 1}, // no file: -1
		answer(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOMEM)))
}

// ForbidDeathSignals has the kernel refuse to send a signal to a process whose parent ends (PR_SET_PDEATHSIG): to the calling thread,
// which is to be locked to its goroutine and to end with it, and to what it starts.
func ForbidDeathSignals() error {
	return refuse(false, load(callAt), unless(unix.SYS_PRCTL, 3), load(domainAt), unless(unix.PR_SET_PDEATHSIG, 1), answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
}

// ForbidKilling has the kernel refuse the calling thread to send signals, as to processes of another user. It is to be locked to its goroutine
// and to end with it.
func ForbidKilling() error {
	return refuse(false, load(callAt), unless(unix.SYS_KILL, 1), answer(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)))
}

// Offsets in struct seccomp_data.
const (
	callAt   = 0  // the number of the system call
	domainAt = 16 // the low half of its first argument
	fileAt   = 48 // of its fifth
)

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func unless(value uint32, skip uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
}

func answer(value uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
}

// refuse installs a filter. What it does not answer is allowed.
func refuse(allThreads bool, filter ...unix.SockFilter) error {
	filter = append(filter, answer(unix.SECCOMP_RET_ALLOW))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	flags := uintptr(0)
	if allThreads {
		flags = unix.SECCOMP_FILTER_FLAG_TSYNC
	}
	runtime.LockOSThread() // both calls are about one thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
