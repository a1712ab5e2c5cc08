//go:build linux

package situations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

const (
	handicapVariable = "NETTEST_HANDICAP" // what a rank lacks: "RANK WHAT"
	strappedVariable = "NETTEST_STRAPPED" // a FIFO, into which a rank writes once it lacks that
)

// lacks reports whether this rank lacks something.
func lacks(what string) bool {
	return os.Getenv(handicapVariable) == os.Getenv("PMI_RANK")+" "+what
}

// handicap takes from this process what it is to lack from its start.
func handicap() error {
	switch {
	case lacks("user"): // it is another one
		return syscall.Setuid(65534)
	case lacks("memfd"):
		return testnet.ForbidMemfd()
	}
	return nil
}

// strapped takes from this rank, which has met nobody yet, what it is to lack now. Then it
// plays the ring. The other rank does not begin before: to meet it needs no call of this one.
func strapped(ctx context.Context, w *strand.World) error {
	var err error
	switch {
	case lacks("addresses"):
		err = telling(testnet.ForbidMappings)
	case lacks("descriptors"):
		// The one with which it tells is enough for a connection of TCP, but not for a connection and memory.
		err = telling(exhaustDescriptors)
	case os.Getenv(strappedVariable) != "":
		_, err = os.ReadFile(os.Getenv(strappedVariable))
	}
	if err != nil {
		return err
	}
	return nettest.Ring(ctx, w)
}

// telling takes something from this rank, and tells the other, which reads from the FIFO until it is closed.
func telling(take func() error) error {
	f, err := os.OpenFile(os.Getenv(strappedVariable), os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		return err
	}
	defer f.Close()
	return take()
}

// exhaustDescriptors leaves no descriptor that is not in use.
func exhaustDescriptors() error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	last := uint64(0)
	for _, fd := range fds {
		n, err := strconv.ParseUint(fd.Name(), 10, 32)
		if err != nil {
			return err
		}
		last = max(last, n)
	}
	for n := uint64(0); n < last; n++ { // those below are used up
		if _, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0); err != nil {
			if _, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, int(n)); err != nil {
				return err
			}
		}
	}
	next, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	limit := uint64(next)
	return errors.Join(unix.Close(next), unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit + 1000}))
}

// requireTCP expects that a rank has sent by far the most over TCP. What a peer that finds out only
// then that it can not map the memory is sent at first is sent again.
func requireTCP(t *testing.T, lines []nettest.Line) {
	t.Helper()
	var tcp, others int
	for _, l := range lines {
		_, after, _ := strings.Cut(l.Text, ", ")
		var n int
		if _, err := fmt.Sscanf(after, "%d bytes sent", &n); err != nil {
			continue
		}
		if strings.Contains(l.Text, "127.0.0.1") {
			tcp += n
		} else {
			others += n
		}
	}
	assert.Greater(t, tcp, 1<<20)
	assert.Less(t, others, tcp/4)
}

// Where two ranks of a host can not share memory TCP takes over, and a line says why and what to
// do. It does not matter which of the two lacks something.
func TestSituationsWithoutMemory(t *testing.T) {
	for _, tc := range []struct {
		lack, says string
		later      bool // it has that while its world opens
	}{
		{"user", "memory is shared within one user only", false},
		{"memfd", "the system does not allow memfd_create", false},
		{"addresses", "there is no memory for it: lower btl_sm_fbox_size, raise ulimit -v", true},
		{"descriptors", "raise the limit with ulimit -n", true},
	} {
		for rank := range 2 {
			t.Run(fmt.Sprintf("rank %d, %s", rank, tc.lack), func(t *testing.T) {
				if tc.lack == "user" {
					need.Users(t)
				}
				t.Parallel()
				_, a, _ := nettest.Hosts(t)
				env := []string{fmt.Sprintf("%s=%d %s", handicapVariable, rank, tc.lack), "STRAND_VERBOSE=1"}
				if tc.later {
					fifo := filepath.Join(t.TempDir(), "strapped")
					require.NoError(t, unix.Mkfifo(fifo, 0o600))
					env = append(env, strappedVariable+"="+fifo)
				}
				r := nettest.Play("strapped", []*testnet.Host{a, a}, env...).Run(t)
				require.NoError(t, r.Wait())
				for rank := range 2 {
					requireTCP(t, r.Lines(rank))
				}
				assert.Contains(t, r.String(), tc.says)
				for line := range strings.Lines(r.String()) {
					assert.LessOrEqual(t, strings.Count(line, tc.says), 1, "it is said once: %s", line)
				}
			})
		}
	}
}
