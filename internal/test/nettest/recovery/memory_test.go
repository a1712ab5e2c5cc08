//go:build linux

package recovery_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/testnet"
)

// breakVariable says how a rank of brokenFlow breaks its shared memory.
const breakVariable = "TEST_BREAK"

// breaks are the ways in which it does, each with the transport that goes on.
var breaks = []struct {
	name, over string
	do         func() error
}{
	{"cut", "sm", cut},
	{"nonsense", "", writeNonsense},
	{"gone", "tcp", cutForGood},
}

// brokenFlow is a flow whose rank breaks its connections over shared memory with each SIGUSR2.
func brokenFlow(ctx context.Context, w *strand.World) error {
	way, err := strconv.Atoi(os.Getenv(breakVariable))
	if err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR2)
	go func() {
		for range told {
			if err := breaks[way].do(); err != nil {
				fmt.Println("could not break:", err)
				os.Exit(1)
			}
		}
	}()
	return flow(ctx, w)
}

// cut ends this process's connections over shared memory, as the system does when a process is
// killed.
func cut() error { return shutSockets(false) }

// cutForGood does so too, after it has seen to it that nobody can connect again. Who has done so
// just before is cut off as well.
func cutForGood() error {
	err := shutSockets(true)
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			_ = cut() // it has worked before
		}
	}()
	return errors.Join(err, cut())
}

// shutSockets shuts either all connections of shared memory or what listens for them.
func shutSockets(listening bool) error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range fds {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			return err
		}
		if !ofMemory(fd) {
			continue
		}
		listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
		if err == nil && (listens != 0) == listening {
			_ = unix.Shutdown(fd, unix.SHUT_RDWR) // the peer may have done so
		}
	}
	return nil
}

// ofMemory reports whether a descriptor is a stream socket of the transport, from either end.
func ofMemory(fd int) bool {
	for _, name := range []func(int) (unix.Sockaddr, error){unix.Getsockname, unix.Getpeername} {
		address, err := name(fd)
		if at, ok := address.(*unix.SockaddrUnix); err == nil && ok && strings.HasPrefix(at.Name, "@strand-sm-") {
			kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
			return err == nil && kind == unix.SOCK_STREAM
		}
	}
	return false
}

// writeNonsense says, in all segments that this process has, of both sides that they have read
// more than was ever written.
func writeNonsense() error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	for line := range strings.Lines(string(maps)) {
		var from int64
		if _, err := fmt.Sscanf(line, "%x-", &from); err != nil || !strings.Contains(line, "memfd:strand-sm") {
			continue
		}
		for _, side := range []int64{0, 512} {
			if _, err := memory.WriteAt(binary.LittleEndian.AppendUint64(nil, 1<<63), from+side); err != nil {
				return err
			}
		}
	}
	return nil
}

// Shared memory that breaks in the midst of traffic is connected again, or TCP takes over where it
// can not be. Nothing is lost, nothing comes twice, nothing is damaged.
func TestTrialsOfBrokenMemory(t *testing.T) {
	t.Parallel()
	trials.Trials{Short: len(breaks), Each: memoryBreaks, Beside: 3, Took: "from the breaking of shared memory to two whole rounds", Run: tryBrokenMemory}.Try(t)
}

// memoryBreaks is how often a trial breaks it.
const memoryBreaks = 3

func tryBrokenMemory(t *testing.T, tr *trials.Trial) {
	_, a, _ := nettest.Hosts(t)
	way := tr.Way(len(breaks))
	r := startFlow(t, tr, nettest.Play("broken", []*testnet.Host{a, a}, fmt.Sprintf("%s=%d", breakVariable, way)))
	require.Contains(t, r.Await(0, "up: ").Text, "sm @strand-sm-")
	for i := range memoryBreaks {
		after(time.Duration(tr.Random.IntN(50)) * time.Millisecond)
		over := breaks[way].over
		if over == "tcp" && i > 0 {
			break // it is gone for good
		}
		start := time.Now()
		r.Signal(tr.Random.IntN(2), syscall.SIGUSR2)
		if over == "tcp" {
			r.Signal(0, syscall.SIGUSR2) // either may connect
			r.Signal(1, syscall.SIGUSR2)
		}
		if !traffic.GoesOn(r, over) {
			tr.Hangs(t, "nothing goes on for a minute after memory broke: "+breaks[way].name)
		}
		tr.Done(time.Since(start))
	}
	requireFlow(t, r)
}
