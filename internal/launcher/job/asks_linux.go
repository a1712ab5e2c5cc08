package job

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asksTime is how long a rank is stopped before that is told. Somebody may have it go on at once.
const asksTime = 200 * time.Millisecond

// heedStops tells of ranks that the terminal has stopped until nobody takes events any more: they are in its background, and have asked something
// there, for a password, say. Such a rank waits for ever, and looks like one that computes.
func (j *job) heedStops() {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGCHLD)
	defer signal.Stop(changes)
	told := make([]bool, len(j.ranks))
	for {
		select {
		case <-time.After(asksTime):
		case <-j.over:
			return
		}
		for rank, p := range j.ranks {
			if !told[rank] && isAsking(p.PID()) {
				told[rank] = true
				j.notes.add(fmt.Sprintf("strand run: rank %d on host %s (pid %d) is stopped, since it wants something of the terminal itself (/dev/tty), for a password, say: "+
					"what is typed goes to the standard input of rank 0; it has to get what it needs there, from a file or a variable\n", rank, j.hostOf(rank), p.PID()))
			}
		}
		select {
		case <-changes: // or one has come while they were looked at
		case <-j.over:
			return
		}
	}
}

// isAsking reports whether a child of this process is stopped, as the terminal stops what reads from it, or changes it, in the background.
func isAsking(pid int) bool {
	var info unix.Siginfo
	if unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil) != nil || info.Signo == 0 {
		return false
	}
	// The signal is behind the process and its user, which are behind three numbers; on 64 bits they begin at a multiple of 8.
	const at = (3*4+unsafe.Sizeof(uintptr(0))-1)/unsafe.Sizeof(uintptr(0))*unsafe.Sizeof(uintptr(0)) + 2*4
	by := syscall.Signal(*(*int32)(unsafe.Add(unsafe.Pointer(&info), at)))
	return by == syscall.SIGTTIN || by == syscall.SIGTTOU
}
