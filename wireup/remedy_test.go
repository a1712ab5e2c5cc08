package wireup

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/reach"
)

// cutAfter ends a connection behind some bytes of an answer.
func cutAfter(said string, err error) func(*Pending) {
	return func(p *Pending) {
		p.Take([]byte(said))
		p.Ended(err)
	}
}

// What is advised fits the cause.
func TestRemediesOfHandshakes(t *testing.T) {
	for name, c := range map[string]struct {
		slow      bool
		end       func(*Pending)
		why, what string
	}{
		"another job, in order":     {false, func(p *Pending) { p.Ended(io.EOF) }, "without a word", "another job"},
		"another job, a reset":      {false, func(p *Pending) { p.Ended(syscall.ECONNRESET) }, "without a word", "another job"},
		"before a word of ours":     {true, func(p *Pending) { p.Ended(syscall.ECONNRESET) }, "before anything was said", "has probably ended"},
		"cut in its first answer":   {false, cutAfter("STRA\x02\x00", io.EOF), "in the midst of an answer", "has probably ended"},
		"a reset there":             {false, cutAfter("STRA\x02\x00", syscall.ECONNRESET), "in the midst of an answer", "has probably ended"},
		"no answer":                 {false, func(p *Pending) { p.m.loop.(*btltest.Loop).Advance(p.m.HandshakeTimeout) }, "no answer in 1s", "the connection itself was made"},
		"no port to connect from":   {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EADDRNOTAVAIL)) }, "assign requested address", "has no free port"},
		"a firewall that rejects":   {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EHOSTUNREACH)) }, "no route to host", "a firewall rejects"},
		"a firewall, by protocol":   {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.ENOPROTOOPT)) }, "protocol not available", "a firewall rejects"},
		"a host that is down":       {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EHOSTDOWN)) }, "host is down", "there is no way from this address"},
		"a route to nowhere":        {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EINVAL)) }, "invalid argument", "type blackhole"},
		"a firewall, over IPv6":     {false, func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EACCES)) }, "permission denied", "a firewall on the way"},
		"another program":           {false, func(p *Pending) { p.Take(make([]byte, 72)) }, "not a Strand handshake", "another program"},
		"another one, of few words": {false, func(p *Pending) { p.Take([]byte("220 mail\r\n")) }, "not a Strand handshake", "another program"},
		"somebody in between":       {false, func(p *Pending) { p.Take(append([]byte("STRA\x02\x00"), make([]byte, 66)...)) }, "does not prove", "in between"},
	} {
		t.Run(name, func(t *testing.T) {
			h, m := newPorch(t)
			h.slow = c.slow
			p, recv := h.dial(t, m)
			c.end(p)
			h.Clock.Turn()
			require.Equal(t, 1, recv.Downs)
			var failure *btl.ConnError
			require.ErrorAs(t, recv.Err, &failure)
			require.Contains(t, failure.Err.Error(), c.why)
			require.Contains(t, failure.Remedy, c.what)
			if c.what != "has probably ended" {
				require.NotContains(t, failure.Remedy, "has probably ended")
			}
		})
	}
}

// Link-local addresses are tried where no others lead to a peer, as where a route is missing. So that is what is advised first.
func TestRemedyOfLinkLocalAddresses(t *testing.T) {
	address := func(prefix string) reach.Address {
		return reach.Address{Prefix: netip.MustParsePrefix(prefix), Interface: "eth0", Index: 2}
	}
	for name, end := range map[string]func(*Pending){
		"nobody has the address": func(p *Pending) { p.Ended(os.NewSyscallError("connect", syscall.EHOSTUNREACH)) },
		"no answer":              func(p *Pending) { p.m.loop.(*btltest.Loop).Advance(p.m.ConnectTimeout) },
	} {
		for subnet, advised := range map[string]bool{"fe80::%d/64": true, "169.254.0.%d/16": true, "fd00:1::%d/64": false, "10.1.0.%d/24": false} {
			t.Run(name+", "+subnet, func(t *testing.T) {
				h, m := newPorch(t)
				recv := h.NewReceiver(1)
				way := Pair{Pair: reach.Pair{Local: address(fmt.Sprintf(subnet, 1)), Remote: address(fmt.Sprintf(subnet, 2))}, Port: 7}
				ep, err := m.Connect(btl.Peer{Rank: 1}, btl.Path{Private: way}, recv)
				require.NoError(t, err)
				ep.Send(nil, 0)
				end(h.dialed[0])
				h.Clock.Turn()
				var failure *btl.ConnError
				require.ErrorAs(t, recv.Err, &failure)
				require.Equal(t, advised, strings.Contains(failure.Remedy, "is a route to its other addresses missing?"), failure.Remedy)
				require.Contains(t, failure.Remedy, "port 7")
			})
		}
	}
}

// One answer that proves nothing may have been damaged on its way. All attempts that fail so mean that the next one would too.
func TestDamagedAnswerIsAskedForAgain(t *testing.T) {
	for name, answer := range map[string][]byte{
		"its first byte": make([]byte, 72),
		"its proof":      append([]byte("STRA\x02\x00"), make([]byte, 66)...),
		"a reserved one": append([]byte("STRA\x02\x00\x01"), make([]byte, 65)...),
	} {
		t.Run(name, func(t *testing.T) {
			h, m := newPorch(t)
			m.Retries = 2
			p, recv := h.dial(t, m)
			p.Take(answer)
			h.Clock.Advance(time.Second)
			require.Zero(t, recv.Downs)
			require.Len(t, h.dialed, 2)
			h.dialed[1].Up()
			h.dialed[1].Take(answer)
			require.Equal(t, 1, recv.Downs)
			var failure *btl.ConnError
			require.ErrorAs(t, recv.Err, &failure)
			require.True(t, failure.Final)
		})
	}
}
