package interop

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/btl/sctp/internal/userstack"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/need"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// stacks are ours.
var stacks = map[string]func(stack.Config) (stack.Stack, error){
	"user": func(c stack.Config) (stack.Stack, error) { return userstack.Open(c) },
}

// A side is a stack of ours, which the test drives.
type side struct {
	stack.Stack
	t        testing.TB
	e        *engine.Engine
	accepted []*party
}

const payload = 7 // the protocol that messages say they are of

// openSide opens a stack, here or on a host.
func openSide(t testing.TB, kind string, on host, change ...func(*stack.Config)) *side {
	e, err := engine.New(engine.Options{})
	require.NoError(t, err)
	e.Lock()
	s := &side{t: t, e: e}
	cfg := stack.Config{Loop: e, Local: []netip.Addr{loopback},
		Accept: func(a stack.Association) stack.Handler {
			p := &party{side: s, a: a, up: true}
			a.Trust()
			s.accepted = append(s.accepted, p)
			return p
		},
		Room: func(netip.AddrPort) bool { return true }, Warn: func(from netip.AddrPort, err error) { t.Logf("%v: %v", from, err) },
		Tuning: stack.Tuning{Streams: streams, MaxMessage: 1 << 20, Outstanding: 4 << 20, MTU: 1400, LoopbackMTU: 1400, Interleave: true,
			ConnectTimeout: 20 * time.Second}}
	for _, f := range change {
		f(&cfg)
	}
	open := func() (err error) {
		s.Stack, err = stacks[kind](cfg)
		return err
	}
	if on == nil {
		require.NoError(t, open())
	} else {
		require.NoError(t, on.Do(open))
	}
	t.Cleanup(func() {
		_ = s.Close()
		e.Unlock()
		e.Close()
	})
	return s
}

func (s *side) at() netip.AddrPort { return netip.AddrPortFrom(loopback, s.Port()) }

// patience is how long anything may take.
func patience() time.Duration {
	if need.Soaking() {
		return 10 * time.Minute
	}
	return time.Minute
}

// until drives the stack until the condition holds.
func (s *side) until(what string, condition func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience()); !condition(); {
		s.e.Poll(nil)
		s.Progress()
		s.Linger() // the peer and the relay need the processors
		if !time.Now().Before(deadline) {
			require.Fail(s.t, "waiting for "+what)
		}
	}
}

// A party is our end of an association.
type party struct {
	side *side
	a    stack.Association
	up   bool
	down error
	tally
	last  map[uint16][]byte // message of each stream that is no more than one to be counted
	parts map[uint16][]byte
}

func (p *party) Up()                       { p.up = true }
func (p *party) Released(*btl.Frame)       {}
func (p *party) Writable()                 {}
func (p *party) PathChanged(btl.PathState) {}
func (p *party) Down(err error)            { p.down = err }

func (p *party) Receive(stream uint16, _ uint32, piece []byte, end bool) {
	if p.parts == nil {
		p.parts, p.last = make(map[uint16][]byte), make(map[uint16][]byte)
	}
	m := append(p.parts[stream], piece...)
	p.parts[stream] = m
	if !end {
		return
	}
	if m[0] == askCount {
		p.add(m)
	} else {
		p.last[stream] = append([]byte(nil), m...)
	}
	p.parts[stream] = m[:0]
}

// send sends a message, when there is room.
func (p *party) send(stream uint16, b []byte) {
	p.side.t.Helper()
	p.side.until("room to send", func() bool {
		result := p.a.Send(stream, payload, b, nil)
		require.NotEqual(p.side.t, btl.Broken, result, "%v", p.down)
		return result == btl.Done
	})
}

// ask sends a message and waits for one on that stream.
func (p *party) ask(stream uint16, b []byte) []byte {
	p.side.t.Helper()
	delete(p.last, stream)
	p.send(stream, b)
	p.side.until(fmt.Sprintf("an answer to %q of %d bytes", b[0], len(b)), func() bool { return p.last[stream] != nil || p.down != nil })
	require.NoError(p.side.t, p.down)
	return p.last[stream]
}

// ends waits for the end, and checks how it came.
func (p *party) ends(as error) {
	p.side.t.Helper()
	p.side.until("the end", func() bool { return p.down != nil })
	require.True(p.side.t, errors.Is(p.down, as), "%v instead of %v", p.down, as)
}

var inOrder = io.EOF
