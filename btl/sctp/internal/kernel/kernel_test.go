//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"bytes"
	"io"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/sctpsock"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/wireup"
)

// Messages of all sizes and shapes, both ways, on several streams.
func TestKernelMessages(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	here, there := x.join(y)
	assert.Equal(t, 11, here.a.Streams())
	assert.Equal(t, 11, there.a.Streams())

	var want []message
	content := bytes.Repeat([]byte("0123456789"), 1<<14)
	for i, size := range []int{0, 1, 100, 1452, 5000, 65536, 100_000, 1<<17 - 4} {
		f := &btl.Frame{Size: size}
		step := size/150 + 1
		f.Payload = content[:min(step, size)]
		for at := len(f.Payload); at < size; at += step { // more pieces than fit into a vector
			f.More = append(f.More, content[at:min(at+step, size)])
		}
		m := message{stream: uint16(i), ppid: uint32(0x01020300 + i), data: append([]byte("head"), content[:size]...)}
		want = append(want, m)
		l.until("there is room", func() bool {
			r := here.a.Send(m.stream, m.ppid, []byte("head"), f)
			require.NotEqual(t, btl.Broken, r)
			return r == btl.Done
		})
	}
	require.Equal(t, btl.Done, there.a.Send(0, 7, []byte("back"), nil))
	l.until("all have come", func() bool { return there.count == len(want) && here.count == 1 })
	assert.Equal(t, []message{{0, 7, []byte("back")}}, here.messages)
	assert.ElementsMatch(t, want, there.messages)
	l.until("all is acknowledged", func() bool { return here.a.Queued() == 0 && there.a.Queued() == 0 })
	sent, _ := here.a.Calls()
	assert.Equal(t, uint64(len(want)), sent)
	local, remote := here.a.Addresses()
	assert.Equal(t, netip.AddrPortFrom(localhost, x.Port()).String(), local)
	assert.Equal(t, netip.AddrPortFrom(localhost, y.Port()).String(), remote)
	require.Len(t, here.a.Paths(), 1)
	assert.True(t, here.a.Paths()[0].Up)
}

func TestKernelTooLong(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	here, there := x.join(y)
	assert.Equal(t, btl.Broken, here.a.Send(1, 0, make([]byte, x.cfg.MaxMessage+1), nil))
	assert.NoError(t, here.ended, "not from within Send")
	l.until("both are told", func() bool { return here.ended != nil && there.ended != nil })
	assert.ErrorIs(t, here.ended, syscall.EMSGSIZE)
	assert.ErrorIs(t, there.ended, syscall.ECONNRESET)
	assert.Equal(t, btl.Broken, here.a.Send(1, 0, []byte("x"), nil))
}

// What ends an association, and what its ends are told.
func TestKernelEnds(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	for name, tc := range map[string]struct {
		end  func(here *peer)
		here error // nil: nothing
		want error
	}{
		"abort":    {func(p *peer) { p.a.Abort(); p.a.Abort() }, nil, syscall.ECONNRESET},
		"sever":    {func(p *peer) { p.a.Sever() }, syscall.ECONNRESET, syscall.ECONNRESET},
		"shutdown": {func(p *peer) { require.NoError(t, x.sock.Shutdown(p.a.id)) }, io.EOF, io.EOF},
	} {
		here, there := x.join(y)
		tc.end(here)
		l.until(name, func() bool { return there.ended != nil && (here.ended != nil || tc.here == nil) })
		assert.ErrorIs(t, there.ended, tc.want, name)
		if tc.here != nil {
			assert.ErrorIs(t, here.ended, tc.here, name)
		}
		assert.Empty(t, x.assocs, name)
		assert.Zero(t, x.room.total, name)
	}
	here, there := x.join(y)
	require.NoError(t, y.Close())
	l.until("the other's process has ended", func() bool { return here.ended != nil })
	assert.ErrorIs(t, here.ended, syscall.ECONNRESET)
	assert.NoError(t, there.ended)
	assert.NoError(t, y.Close())
}

func TestKernelNobodyThere(t *testing.T) {
	l := &loop{t: t}
	x, gone := newNode(l), newNode(l)
	route := x.routeTo(gone)
	require.NoError(t, gone.Close())
	p := &peer{t: t}
	_, err := x.Associate(route, p)
	require.NoError(t, err)
	l.until("refused", func() bool { return p.ended != nil })
	assert.ErrorIs(t, p.ended, syscall.ECONNREFUSED)
	assert.Empty(t, x.assocs)
}

func TestKernelRefusedPeer(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	y.refuse = true
	p := x.call(y)
	l.until("refused", func() bool { return p.ended != nil })
	assert.True(t, p.up, "the kernel has answered")
	assert.Empty(t, y.assocs)
}

// Both call each other at once, or one after the other: one association.
func TestKernelCrossing(t *testing.T) {
	l := &loop{t: t}
	x, y := newNode(l), newNode(l)
	here, there := x.join(y)
	_, err := y.Associate(y.routeTo(x), &peer{t: t})
	assert.ErrorIs(t, err, syscall.EISCONN)
	_, err = x.Associate(x.routeTo(y), &peer{t: t})
	assert.ErrorIs(t, err, syscall.EISCONN)
	require.Equal(t, btl.Done, here.a.Send(1, 0, []byte("x"), nil))
	l.until("it lives", func() bool { return there.count == 1 })
}

func TestKernelPorts(t *testing.T) {
	need.KernelMachine(t) // where nobody else has the ports
	l := &loop{t: t}
	const first = 34567
	in := func(c *stack.Config) { c.Ports = wireup.Ports{First: first, Count: 2} }
	x, y := newNode(l, in), newNode(l, in)
	assert.Equal(t, []uint16{first, first + 1}, []uint16{x.Port(), y.Port()})
	cfg := x.cfg
	_, err := Open(cfg)
	assert.ErrorContains(t, err, "none of the ports 34567 to 34568")
	assert.ErrorIs(t, err, syscall.EADDRINUSE)
}

// What this kernel can not do is told with the parameter, and who can.
func TestKernelUnsupported(t *testing.T) {
	need.KernelMachine(t)
	l := &loop{t: t}
	cfg := newNode(l).cfg
	cfg.Interleave = true
	_, err := Open(cfg)
	var u *stack.UnsupportedError
	require.ErrorAs(t, err, &u)
	assert.Equal(t, "interleave", u.Parameter)
	assert.ErrorContains(t, err, "net.sctp.intl_enable=1")
	assert.ErrorContains(t, err, "the user stack can")
	cfg = newNode(l).cfg
	cfg.Scheduler = "lottery"
	_, err = Open(cfg)
	assert.ErrorContains(t, err, "lottery")
}

// Without the kernel's SCTP the error says so; everywhere.
func TestOpenExplains(t *testing.T) {
	if sctpsock.Check() == nil {
		return // TestKernel… are for this kernel
	}
	_, err := Open(stack.Config{Tuning: tuning()})
	var none *sctpsock.UnavailableError
	assert.ErrorAs(t, err, &none)
}
