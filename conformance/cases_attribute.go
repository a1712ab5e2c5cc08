package conformance

import (
	"math"
	"slices"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

var attributeCases = []testCase{
	{"attributes", "Attr, Address, Reach and the names of parameters are within the bounds that package btl states.", checkAttributes, on(ruleAttributes, ruleDiscreet, ruleReach, ruleSerial, ruleNoBlock)},
	{"reports", "An endpoint that is up has a Desc, and what it reports is within the bounds of btl.Report, before it is connected too.", checkReports, on(ruleAttributes, ruleDiscreet)},
	{"reach-garbage", "Reach and Connect bear any address: truncated, damaged, made up, empty.", checkReachGarbage, on(ruleReach, ruleNoPanic)},
}

// checkAttributes connects nobody: a transport that does not connect yet can pass.
func checkAttributes(t *trial) {
	w := t.open(2)
	checkNames(w)
	for _, r := range w.ranks {
		for _, m := range r.modules {
			r.do("Module.Attr", func() { checkModule(w, m) })
		}
	}
	t.check()
	for a := range w.ranks {
		for b := range w.ranks {
			if m, _, paths, err := w.route(a, b); m != nil {
				checkPaths(t, paths)
				for _, p := range paths {
					w.ranks[a].discreet("Desc of a path", []byte(p.Desc))
				}
			} else if err == nil {
				t.fail(ruleReach, "Reach from rank %d to rank %d: neither a path nor a reason", a, b)
			}
		}
	}
}

func checkReports(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there := w.connect(a, b)
	a.do("Reporter.Report", func() { checkState(there, "CLOSED") })
	there.post(spec{header: 16, size: 8})
	back := w.accepted(b, a)
	w.settle()
	for _, p := range []*port{there, back} {
		p.r.do("Endpoint.Desc", func() { checkEndpoint(p) })
	}
}

// checkState looks at the state that an endpoint reports.
func checkState(p *port, want string) {
	if reporter, ok := p.ep.(btl.Reporter); ok {
		if state := reporter.Report().State; state != "" && state != want {
			p.w.t.violate(ruleAttributes, "%v: Report: State is %q, that of such an endpoint is %s", p, state, want)
		}
	}
}

// everyTransports are the parameters by which a user overrides what a transport says of itself.
var everyTransports = []string{"exclusivity", "bandwidth", "latency"}

func checkNames(w *world) {
	c := w.subject.Component
	registry := param.NewRegistry()
	c.Declare(registry)
	for _, s := range registry.Specs() {
		prefix := "btl_" + c.Name() + "_"
		own, ok := strings.CutPrefix(s.Name, prefix)
		switch {
		case !ok:
			w.t.violate(ruleAttributes, "parameter %s does not start with %s", s.Name, prefix)
		case slices.Contains(everyTransports, own):
			w.t.violate(ruleAttributes, "parameter %s is there for every transport, and is not to be declared", s.Name)
		}
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				w.t.violate(ruleAttributes, "the component can not be registered: %v", p)
			}
		}()
		new(btl.Registry).Register(c)
	}()
}

func checkModule(w *world, m btl.Module) {
	a := m.Attr()
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			w.t.violate(ruleAttributes, format, args...)
		}
	}
	expect(a.Name != "", "the module has no Name")
	expect(a.MaxFrame >= 1024, "MaxFrame is %d, at least 1024 is required", a.MaxFrame)
	expect(a.EagerLimit >= 0, "EagerLimit is %d", a.EagerLimit)
	expect(a.BestFrame >= 0 && a.BestFrame <= a.MaxFrame, "BestFrame is %d, MaxFrame %d", a.BestFrame, a.MaxFrame)
	expect(a.Lanes >= 1, "Lanes is %d, at least 1 is required", a.Lanes)
	expect(a.Bandwidth > 0, "Bandwidth is %d Mbit/s", a.Bandwidth)
	expect(a.Latency >= 0, "Latency is %v", a.Latency)
	expect(len(m.Address()) <= 4096, "Address has %d bytes, at most 4096 are allowed", len(m.Address()))
	expect(!a.Confirms || a.Reliable, "the module Confirms and is not Reliable; what it loses would never be released")
	expect(!a.Retains || a.Reliable, "the module Retains and is not Reliable; what it loses would never be released")
	expect(!a.Unbreakable || a.Reliable, "the module is Unbreakable and not Reliable; what can not break delivers")
	expect(a.Secrecy <= btl.Encrypted, "Secrecy is %d", a.Secrecy)
}

// checkPaths looks at the paths to a peer. Spare ones come last, and may have any other numbers: they need not meet those of a peer that has
// more paths.
func checkPaths(t *trial, paths []btl.Path) {
	if !slices.ContainsFunc(paths, func(p btl.Path) bool { return p.Spare == btl.NotSpare }) {
		t.violate(ruleReach, "all %d paths are Spare; who offers such a path offers others too", len(paths))
	}
	numbers := make(map[int]bool)
	spare := func(i int) bool { return paths[i].Spare != btl.NotSpare }
	for i, p := range paths {
		switch {
		case !spare(i) && p.Index != i, p.Index < 0:
			t.violate(ruleReach, "path %d has Index %d", i, p.Index)
		case numbers[p.Index]:
			t.violate(ruleReach, "path %d has Index %d, as one before it", i, p.Index)
		case p.Desc == "":
			t.violate(ruleReach, "path %d has no Desc", i)
		case !(p.Weight >= 0 && p.Weight <= math.MaxFloat64): // not a number is neither
			t.violate(ruleReach, "path %d has Weight %g", i, p.Weight)
		case p.Bandwidth < 0 || p.Latency < 0:
			t.violate(ruleReach, "path %d has a Bandwidth of %d and a Latency of %v; what is not known is 0", i, p.Bandwidth, p.Latency)
		case p.Bundle < 0:
			t.violate(ruleReach, "path %d has Bundle %d", i, p.Bundle)
		case p.Spare > btl.Parallel:
			t.violate(ruleReach, "path %d has Spare %d", i, p.Spare)
		case i > 0 && spare(i) == spare(i-1) && p.Weight > paths[i-1].Weight:
			t.violate(ruleReach, "path %d has Weight %g, the one before %g; the best comes first", i, p.Weight, paths[i-1].Weight)
		}
		numbers[p.Index] = true
	}
}

func checkEndpoint(p *port) {
	desc := p.ep.Desc()
	if desc == "" {
		p.w.t.violate(ruleAttributes, "%v has no Desc", p)
	}
	p.r.discreet("Desc of an endpoint", []byte(desc))
	reporter, ok := p.ep.(btl.Reporter)
	if !ok {
		return
	}
	checkState(p, "CONNECTED")
	told := reporter.Report()
	for _, path := range told.Paths {
		if path.Desc == "" {
			p.w.t.violate(ruleAttributes, "%v: Report: a path without Desc", p)
		}
	}
	if told.Congestion != nil {
		checkCongestion(p, told.Congestion)
	}
}

// checkCongestion looks at what an endpoint that is up tells of its congestion control.
func checkCongestion(p *port, c *btl.Congestion) {
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			p.w.t.violate(ruleAttributes, "%v: Report.Congestion: "+format, append([]any{p}, args...)...)
		}
	}
	expect(c.Window >= 0, "Window is %d bytes", c.Window)
	expect(c.RoundTrip >= 0 && c.Timeout >= 0, "RoundTrip is %v, Timeout %v", c.RoundTrip, c.Timeout)
	expect(c.Resent >= -1 && c.Timeouts >= -1, "Resent is %d, Timeouts %d; what is not known is -1", c.Resent, c.Timeouts)
}

func checkReachGarbage(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	m, good, _, _ := w.route(a.id, b.id)
	for range 400 {
		peer := good
		peer.Address = damage(t, good.Address)
		a.do("Module.Reach", func() {
			paths, err := m.Reach(peer)
			if err == nil && len(paths) == 0 {
				t.violate(ruleReach, "Reach of a damaged address (%d bytes): neither a path nor a reason", len(peer.Address))
			}
			if err == nil && len(paths) > 0 {
				w.connectInVain(a, m, peer, paths[0])
			}
		})
	}
	w.join(a, b)
}

// connectInVain makes an endpoint, if the module is willing, and closes it before anything is sent: all from
// within a call of rank a.
func (w *world) connectInVain(a *rank, m btl.Module, peer btl.Peer, path btl.Path) {
	w.t.mu.Lock()
	p := w.newPortLocked(a, peer.Rank)
	w.t.mu.Unlock()
	ep, err := m.Connect(peer, path, p)
	w.t.mu.Lock()
	p.ep = ep
	w.t.mu.Unlock()
	if err != nil || ep == nil {
		p.markClosed()
		return
	}
	p.closeInside()
}

// damage returns a blob that is like the given one and wrong.
func damage(t *trial, good []byte) []byte {
	bad := append([]byte(nil), good...)
	switch n := len(bad); t.rng.IntN(5) {
	case 0:
		return nil
	case 1:
		return bad[:t.rng.IntN(n+1)]
	case 2:
		bad = make([]byte, t.rng.IntN(4096))
		noise.fill(bad, t.rng.Uint64(), 0)
	case 3:
		return append(bad, make([]byte, 1+t.rng.IntN(64))...)
	default:
		for range min(n, 1+t.rng.IntN(3)) {
			bad[t.rng.IntN(n)] ^= byte(1 << t.rng.IntN(8))
		}
	}
	return bad
}
