//go:build amd64 || arm || arm64 || riscv64

package interop

import (
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctp"
	"github.com/strandmp/strand/internal/sctpsock"
	"github.com/strandmp/strand/internal/test/need"
)

// The table's rows of the kernel, in the virtual machine of make test-kernel.
func TestKernelTable(t *testing.T) {
	need.KernelSCTP(t)
	need.KernelMachine(t)
	play(t, features, kernel{})
}

// Linux numbers the pieces of a message that follow the first one from 0 on, not from 1 as RFC 8260 says (section 2.1). Should this
// fail with a later one, the user stack can offer I-DATA to kernels.
func TestKernelInterleaving(t *testing.T) {
	need.KernelSCTP(t)
	need.KernelMachine(t)
	kernel{}.need(t)
	s := openSide(t, "user", nil)
	us := call(s, newRelay(t, netip.AddrPort{}, netip.AddrPortFrom(loopback, kernel{}.listen(t, near))))
	echo(t, us, 1, 1000)
	us.send(0, generate(2, 5000, 1))
	s.until("an end", func() bool { return us.down != nil || us.messages == 2 })
	var violation *sctp.AbortError
	require.ErrorAs(t, us.down, &violation, "the kernel's pieces were taken")
	assert.False(t, violation.Peer)
	t.Log(violation)
}

// kernel is Linux's SCTP in UDP (RFC 6951), as a peer.
type kernel struct{}

// kernelPort is the UDP port that it has.
const kernelPort = 9899

func (kernel) name() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

func (kernel) lacks(bool) lack {
	var u unix.Utsname
	_ = unix.Uname(&u)
	release := unix.ByteSliceToString(u.Release[:])
	return lack{"zero checksum": "not in " + release, "I-DATA": release + " numbers the second piece of a message 0, not 1"}
}

func (kernel) encap() int { return kernelPort }

// most is little: the machine's processors are emulated.
func (kernel) most() int { return need.Times(1, 100) << 20 }

// lastWord is the ABORT of a socket that is closed.
func (kernel) lastWord() byte { return 6 }

// settings are what it takes.
var settings = map[string]string{"net/sctp/udp_port": strconv.Itoa(kernelPort), "net/sctp/intl_enable": "1"}

// need sets up the loopback interface: as long as it carries packets of 64 KB, and joined ones, the relay has few to lose.
func (kernel) need(t testing.TB) {
	for name, value := range settings {
		require.NoError(t, os.WriteFile("/proc/sys/"+name, []byte(value), 0o600))
	}
	loopback := func(args ...string) {
		out, err := exec.Command(need.Program(t, "ip", "iproute2"), append([]string{"link", "set", "dev", "lo"}, args...)...).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
	loopback("mtu", "1500", "gso_max_size", "1500")
	t.Cleanup(func() { loopback("mtu", "65536", "gso_max_size", "65536") })
}

func (k kernel) listen(t testing.TB, at place) uint16 {
	k.start(t, at)
	return kernelPort
}

func (k kernel) open(t testing.TB, at place, to ...netip.AddrPort) (kill func()) {
	return k.start(t, at, to...)
}

// start opens a socket, which listens if there is nobody to begin an association with.
func (kernel) start(t testing.TB, at place, to ...netip.AddrPort) (kill func()) {
	o := sctpsock.Options{
		SendBuffer: 1 << 20, ReceiveBuffer: 1 << 20, Streams: streams, InitAttempts: 8, InitTimeout: time.Second, NoDelay: true,
		RTOInitial: 200 * time.Millisecond, RTOMin: 100 * time.Millisecond, RTOMax: time.Second, PathMaxRetrans: 2, Heartbeat: 200 * time.Millisecond,
		FragmentInterleave: 2, Interleave: true, Events: []sctpsock.Kind{sctpsock.AssocChange},
	}
	k := &kernelService{parts: make(map[uint16][]byte)}
	open := func() (err error) {
		if k.Socket, err = sctpsock.Open(o); err != nil {
			return err
		}
		_, err = k.Bind(at.addrs, stack.InnerPort)
		return err
	}
	if at.host == nil {
		require.NoError(t, open())
	} else {
		for name, value := range settings {
			at.host.Sysctl(name, value)
		}
		require.NoError(t, at.host.Do(open))
	}
	if to == nil {
		require.NoError(t, k.Listen(1))
	} else {
		k.call(t, to)
	}
	var running sync.WaitGroup
	running.Go(k.serve)
	kill = sync.OnceFunc(func() {
		k.stopped.Store(true)
		running.Wait()
		if k.assoc != 0 {
			_ = k.Abort(k.assoc)
		}
		k.Close()
	})
	t.Cleanup(kill)
	return kill
}

// kernelService is the service on a socket of the kernel's.
type kernelService struct {
	*sctpsock.Socket
	stopped atomic.Bool
	assoc   sctpsock.AssocID // 0: there is none
	parts   map[uint16][]byte
}

func (k *kernelService) call(t testing.TB, to []netip.AddrPort) {
	var addrs []netip.Addr
	for _, a := range to {
		addrs = append(addrs, a.Addr())
	}
	require.NoError(t, k.SetEncapPort(to[0].Port()))
	var err error
	k.assoc, err = k.Connect(addrs, stack.InnerPort)
	require.NoError(t, err)
}

// turn is how long it waits at most until it looks whether it has to stop, in milliseconds.
const turn = 20

func (k *kernelService) serve() {
	s := &service{send: k.send, abort: func() { _ = k.Abort(k.assoc) }, quit: func() { _ = k.Shutdown(k.assoc) }}
	b := make([]byte, 1<<20)
	for !k.stopped.Load() {
		n, info, errno := k.Receive(b)
		switch {
		case errno != 0:
			k.Wait(turn)
		case info.Notification:
			k.changed(b[:n])
		default:
			m := append(k.parts[info.Stream], b[:n]...)
			k.parts[info.Stream] = m
			if info.End {
				k.parts[info.Stream] = m[:0]
				s.act(info.Stream, m)
			}
		}
	}
}

// changed notes that an association has come, or gone.
func (k *kernelService) changed(b []byte) {
	switch n, err := sctpsock.ParseNotification(b); {
	case err != nil || n.Kind != sctpsock.AssocChange:
	case n.State == sctpsock.CommUp || n.State == sctpsock.Restart:
		k.assoc = n.Assoc
		clear(k.parts)
	case n.Assoc == k.assoc:
		k.assoc = 0
	}
}

// send waits until there is room.
func (k *kernelService) send(stream uint16, b []byte) {
	for !k.stopped.Load() {
		k.Add(b)
		if k.Send(sctpsock.SendInfo{Assoc: k.assoc, Stream: stream, PPID: payload}) != unix.EAGAIN {
			return
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(k.FD()), Events: unix.POLLOUT}}, turn)
	}
}
