package rails

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// events are what may happen to a rail, in the words of the table.
var events = []struct {
	name string
	do   func(p *Peer, r *Rail)
}{
	{"is to connect", func(p *Peer, r *Rail) {
		if s := p.Next(at(NextRail)); s.Do == Fail {
			r.State = Gone
		}
	}},
	{"a long message", func(p *Peer, r *Rail) { p.Open(r, at(0)) }},
	{"the peer connects", func(p *Peer, r *Rail) { p.Adopt(r, at(0)) }},
	{"connected", func(p *Peer, r *Rail) { p.Up(r, at(0)) }},
	{"connected after a break", func(p *Peer, r *Rail) { r.Loses(1); p.Up(r, at(0)) }},
	{"takes no frame", func(p *Peer, r *Rail) { p.Broken(r, at(0)) }},
	{"breaks, or fails", func(p *Peer, r *Rail) { p.Down(r, syscall.ECONNRESET, at(0)) }},
	{"refused with proof", func(p *Peer, r *Rail) { p.Down(r, &btl.ConnError{Err: errors.New("no"), Final: true}, at(0)) }},
	{"silent, or creeps", func(p *Peer, r *Rail) { p.Doubt(r, true) }},
	{"a sign of life", func(p *Peer, r *Rail) { p.Doubt(r, false) }},
	{"all probes answered", func(p *Peer, r *Rail) { r.trial.passed = probes; p.Probed(r, at(0)) }},
	{"another one connects", func(p *Peer, r *Rail) { p.Up(p.add(1), at(0)) }},
	{"a better one connects", func(p *Peer, r *Rail) { p.Up(p.add(2), at(0)) }},
	{"all others break", func(p *Peer, r *Rail) {
		for _, other := range p.Rails {
			if other != r && other.State.Connected() {
				p.Down(other, syscall.ECONNRESET, at(0))
			}
		}
	}},
	{"closed for good", func(p *Peer, r *Rail) { p.Shut(r) }},
}

// add gives the peer one more rail.
func (p *Peer) add(tier int) *Rail {
	r := &Rail{Tier: tier}
	p.Attach(append(p.Rails, r))
	return r
}

// begin returns a peer that was met, with a rail in a state.
func begin(s State) (*Peer, *Rail) {
	p := known(1)
	p.Met = true
	r := p.Rails[0]
	r.since = at(0).Now
	switch s {
	case Resting:
		p.add(2).State = Up
	case Up, Trial, Doubted:
		p.add(1).State = Up
	}
	r.State = s
	if s == Gone {
		r.Cause = &btl.ConnError{Final: true}
	}
	p.settle()
	if r.State != s {
		panic(fmt.Sprint(s, " does not last"))
	}
	return p, r
}

// table says what each event makes of each state.
func table() string {
	var b strings.Builder
	states := []State{Idle, Connecting, Up, Doubted, Trial, Resting, Breaking, Down, Gone}
	b.WriteString("| |")
	for _, s := range states {
		fmt.Fprintf(&b, " %v |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(states)) + "\n")
	for _, e := range events {
		fmt.Fprintf(&b, "| %s |", e.name)
		for _, s := range states {
			p, r := begin(s)
			if e.do(p, r); r.State == s {
				b.WriteString(" · |")
			} else {
				fmt.Fprintf(&b, " %v |", r.State)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The table in the decision record is what the code does.
func TestTableOfStates(t *testing.T) {
	record, err := os.ReadFile("../../docs/decisions/0033-rail-states.md")
	require.NoError(t, err)
	if want := table(); !strings.Contains(string(record), want) {
		t.Errorf("the record has another table than:\n%s", want)
	}
}
