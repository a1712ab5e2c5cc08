package conformance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// A world is a number of ranks over one subject, and the account of what they
// sent to each other.
type world struct {
	t       *trial
	subject Subject
	variant variant
	values  *param.Values
	limit   limit
	secret  []byte
	ranks   []*rank
	attr    btl.Attr
	closed  bool
	opened  atomic.Bool // all modules are open: the secret and the hellos are known

	breached atomic.Bool // an up-call broke a rule and was refused: its connection ends by that

	// Guarded by the trial's mu.
	ports    []*port
	book     book
	accepts  int
	onAccept func(*port)
	besieged bool // whoever connects now is of another world
	ending   bool // endpoints may go down now
	plots    []*plot
	plotted  int // bytes in plots
}

// A variant is how the world of a case may differ from the usual one.
type variant struct {
	hello      func(rank int) int // size of a rank's hello
	production bool               // turned by the engine that programs have
	subject    *Subject           // of another world, instead of a new one
	secret     []byte             // of another world, instead of a new one
	hurried    bool               // its time limits are as short as may be
	keys       string             // differs from that of a world whose ranks have other keys
}

// open makes a world of n ranks, each turning.
func (t *trial) open(n int) *world { return t.openAs(n, variant{}) }

func (t *trial) openAs(n int, v variant) *world {
	t.happened()
	w := &world{t: t, variant: v, secret: make([]byte, 32), book: newBook()}
	if v.subject != nil {
		w.subject = *v.subject
	} else {
		w.subject = t.factory()
	}
	if noise.fill(w.secret, t.rng.Uint64(), 0); v.secret != nil {
		w.secret = v.secret
	}
	w.resolveParams()
	t.mu.Lock()
	t.worlds = append(t.worlds, w)
	t.mu.Unlock()
	for id := range n {
		w.ranks = append(w.ranks, newRank(w, id))
	}
	for _, r := range w.ranks {
		r.do("Component.Open", func() { w.openModules(r) })
	}
	w.opened.Store(true)
	w.attr = w.ranks[0].attr
	for _, r := range w.ranks {
		r.gear.start()
	}
	return w
}

func (w *world) helloSize(rank int) int {
	if w.variant.hello != nil {
		return w.variant.hello(rank)
	}
	return 16 + rank
}

func (w *world) resolveParams() {
	c := w.subject.Component
	if c == nil {
		w.t.fail(ruleOpen, "the factory made no component")
	}
	registry := param.NewRegistry()
	c.Declare(registry)
	if w.variant.hurried {
		w.subject.Settings = hurry(registry, w.subject.Settings)
	}
	values, err := registry.Resolve(param.Inputs{Settings: w.subject.Settings})
	if err != nil {
		w.t.fail(ruleOpen, "the subject's settings do not fit the parameters that %s declares: %v", c.Name(), err)
	}
	w.values, w.limit = values, shortest(registry, values)
}

// brief is the time limit of a transport that is in a hurry.
const brief = "100ms"

// hurry makes all time limits brief for which that is allowed.
func hurry(r *param.Registry, settings []param.Setting) []param.Setting {
	settings = slices.Clone(settings)
	for _, s := range r.Specs() {
		setting := param.Setting{Name: s.Name, Text: brief}
		if !isLimit(s) {
			continue
		}
		if _, err := r.Resolve(param.Inputs{Settings: []param.Setting{setting}}); err == nil {
			settings = slices.DeleteFunc(settings, func(of param.Setting) bool { return of.Name == s.Name })
			settings = append(settings, setting)
		}
	}
	return settings
}

// isLimit reports whether a parameter is a time limit.
func isLimit(s param.Spec) bool {
	return s.Kind == param.Duration && strings.HasSuffix(s.Name, "timeout")
}

// A limit is the shortest time that a transport waits for anything, and the name of the parameter
// that says so.
type limit struct {
	name string
	time time.Duration
}

// remedy is what helps where the machine is slow.
func (l limit) remedy() string {
	return fmt.Sprintf("\n\tWhere the machine is slow, and that time a parameter, make it longer in Subject.Settings (%s)",
		cmp.Or(l.name, "no parameter of a name that ends with timeout was found"))
}

// shortest finds the limit among the parameters whose names end with timeout. Its time is 0 if there
// is none.
func shortest(r *param.Registry, values *param.Values) (l limit) {
	for _, s := range r.Specs() {
		if !isLimit(s) {
			continue
		}
		if d := values.Duration(s.Name); d > 0 && (l.time == 0 || d < l.time) {
			l = limit{s.Name, d}
		}
	}
	return l
}

func (w *world) openModules(r *rank) {
	modules, err := w.subject.Component.Open(r.host)
	_, unavailable := errors.AsType[*btl.UnavailableError](err)
	switch {
	case unavailable && w.t.opts.unavailable:
		w.t.skip(err.Error())
	case err != nil:
		w.t.fail(ruleOpen, "rank %d: Open: %v", r.id, err)
	case len(modules) == 0:
		w.t.fail(ruleOpen, "rank %d: Open returned neither a module nor the reason why there is none", r.id)
	}
	r.modules, r.attr, r.address = modules, modules[0].Attr(), bytes.Clone(modules[0].Address())
}

// peer describes rank b to module i of the others.
func (w *world) peer(b, i int) btl.Peer {
	r := w.ranks[b]
	p := btl.Peer{Rank: b, Host: r.host.Hostname()}
	if i < len(r.modules) {
		p.Address = r.modules[i].Address()
	}
	return p
}

// route finds a module of rank a that reaches rank b.
func (w *world) route(a, b int) (m btl.Module, peer btl.Peer, paths []btl.Path, reason error) {
	r := w.ranks[a]
	r.do("Module.Reach", func() {
		for i, candidate := range r.modules {
			peer = w.peer(b, i)
			if paths, reason = candidate.Reach(peer); reason == nil && len(paths) > 0 {
				m = candidate
				return
			}
		}
	})
	return m, peer, paths, reason
}

// pair returns two ranks that reach each other, 0 and 1. For a transport that serves
// its own rank alone both are the same.
func (w *world) pair() (a, b *rank) {
	last := len(w.ranks) - 1
	m, _, _, other := w.route(0, last)
	if m != nil {
		return w.ranks[0], w.ranks[last]
	}
	m, _, _, itself := w.route(0, 0)
	if m == nil {
		w.t.fail(ruleReach, "rank 0 reaches neither rank %d (%v) nor itself (%v); each rank of the suite has a host name of its own, by which hosts are not told apart",
			last, other, itself)
	}
	return w.ranks[0], w.ranks[0]
}

// distinctPair is for cases that need two.
func (w *world) distinctPair() (a, b *rank) {
	a, b = w.pair()
	if a == b {
		w.t.skip("the transport reaches its own rank only")
	}
	return a, b
}

// connect makes an endpoint from a to b.
func (w *world) connect(a, b *rank) *port {
	m, peer, paths, err := w.route(a.id, b.id)
	if m == nil {
		w.t.fail(ruleReach, "rank %d does not reach rank %d: %v", a.id, b.id, err)
	}
	return w.dial(a, m, peer, paths[0])
}

// dial makes an endpoint over a path.
func (w *world) dial(a *rank, m btl.Module, peer btl.Peer, path btl.Path) (p *port) {
	a.do("Module.Connect", func() { p = w.dialInside(a, m, peer, path) })
	return p
}

// dialInside is dial from within a call of rank a.
func (w *world) dialInside(a *rank, m btl.Module, peer btl.Peer, path btl.Path) *port {
	w.t.mu.Lock()
	p := w.newPortLocked(a, peer.Rank)
	w.t.mu.Unlock()
	ep, err := m.Connect(peer, path, p)
	if err != nil || ep == nil {
		w.t.fail(ruleOpen, "rank %d: Connect to rank %d: endpoint %v, error %v", a.id, peer.Rank, ep, err)
	}
	w.t.mu.Lock()
	p.ep = ep
	w.t.mu.Unlock()
	return p
}

// between returns an endpoint from a to b: one that is there, or a new one. It looks
// and connects in one call of rank a. Otherwise b could connect in between, and a
// module need not serve two endpoints over the same path.
func (w *world) between(a, b *rank) (p *port) {
	m, peer, paths, err := w.route(a.id, b.id)
	if m == nil {
		w.t.fail(ruleReach, "rank %d does not reach rank %d: %v", a.id, b.id, err)
	}
	a.do("Module.Connect", func() {
		if p = w.existing(a, b); p == nil {
			p = w.dialInside(a, m, peer, paths[0])
		}
	})
	return p
}

func (w *world) existing(a, b *rank) *port {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	for _, p := range w.ports {
		if p.r == a && p.peer == b.id && p.alive() {
			return p
		}
	}
	return nil
}

// accepted waits until rank b has accepted an endpoint of a, and returns it. If a
// transport uses for both directions the endpoints that the two sides have made
// themselves, it returns b's own.
func (w *world) accepted(b, a *rank) (found *port) {
	w.t.await(ruleAccept, fmt.Sprintf("rank %d to have an endpoint to rank %d", b.id, a.id), func() bool {
		for _, p := range w.ports {
			if p.r == b && p.peer == a.id && p.alive() {
				found = p
			}
		}
		return found != nil
	})
	return found
}

// join connects a to b with one frame and returns both ends.
func (w *world) join(a, b *rank) (there, back *port) {
	there = w.connect(a, b)
	there.post(spec{header: 16, size: 8})
	w.settle()
	if a == b {
		return there, there
	}
	return there, w.accepted(b, a)
}

// settle waits until all that was posted is taken, has arrived, and is released.
func (w *world) settle() {
	t := w.t
	t.await(ruleWritable, "all frames to be taken", func() bool {
		for _, p := range w.ports {
			if len(p.backlog) > 0 && p.alive() {
				return false
			}
		}
		return true
	})
	if w.attr.Reliable {
		t.await(ruleReliable, "all frames to arrive", func() bool { return w.book.pending == 0 })
	} else {
		w.settleLossy()
	}
	t.await(ruleReleased, "all frames that were taken to be released", func() bool {
		for _, p := range w.ports {
			if len(p.held) > 0 && p.alive() {
				return false
			}
		}
		return true
	})
	t.await(ruleBroken, "Down after Broken", func() bool {
		for _, p := range w.ports {
			if p.sawBroken && p.downs == 0 && !p.closed {
				return false
			}
		}
		return true
	})
}

const (
	lossyQuiet  = 20 * time.Millisecond // without an arrival: what is missing is lost
	lossyRounds = 100
)

// settleLossy sends again what an unreliable module has lost, as its user would.
func (w *world) settleLossy() {
	for range lossyRounds {
		for w.awaitArrival() {
		}
		missing := w.writeOff()
		if len(missing) == 0 {
			return
		}
		for p, specs := range missing {
			p.post(specs...)
		}
	}
	w.t.fail(ruleReliable, "frames are still missing after they were sent %d times; an unreliable module may lose some, not all", lossyRounds)
}

// awaitArrival waits for the next arrival, and reports whether there was one
// before all was quiet.
func (w *world) awaitArrival() (arrived bool) {
	quiet := false
	timer := time.AfterFunc(lossyQuiet, func() {
		w.t.mu.Lock()
		quiet = true
		w.t.tell()
		w.t.mu.Unlock()
	})
	defer timer.Stop()
	w.t.mu.Lock()
	before := w.book.arrivals
	w.t.mu.Unlock()
	w.t.await(ruleReliable, "an arrival", func() bool {
		arrived = w.book.arrivals > before
		return arrived || quiet || w.book.pending == 0
	})
	return arrived
}

// writeOff gives up what is missing and returns what to send instead.
func (w *world) writeOff() map[*port][]spec {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	missing := map[*port][]spec{}
	for _, sh := range w.book.expected {
		if sh.taken && !sh.excused {
			w.book.excuse(sh)
			missing[sh.from] = append(missing[sh.from], sh.spec)
		}
	}
	return missing
}
