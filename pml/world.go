package pml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/payload"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
	"github.com/strandmp/strand/selection"
)

// A PML is the message layer of one world.
type PML struct {
	engine *engine.Engine
	job    Job
	rank   int
	traits representation.Traits
	host   *host
	tune   tunables
	bounds bounds
	log    func(btl.LogLevel, string)
	appeal func(rank int) error // nil: nobody can be asked to connect
	crowd  Crowd
	trace  *trace.Recorder // nil: nothing is recorded

	modules       []openModule
	refusals      []selection.Offer // of components, or modules of theirs, that are not used
	peers         map[int]*peer
	near          [8]*peer // of these, the ones that were looked for last
	acquaintances map[int]*acquaintance
	turns         turns
	contexts      map[uint64]*Context
	freed         idSet    // contexts that are no more
	buried        *Context // stands for all of them; nil while there is none

	ops          operations
	overdue      overdue
	direct       direct
	awaited      outcome   // of who has begun to wait last
	instant      operation // stands for those that are complete once they are started
	frames       *txFrame  // free lists
	inbounds     *inbound
	taken        *inbound // messages that matched probes have taken and nobody has received
	waitSets     *waitSet
	lastContext  *Context
	recent       btl.Poller // the endpoint that has delivered last
	late         *peer      // what it has acknowledged is to be noted yet
	probers      []*engine.Waiter
	probing      []*arrival
	spareArrival *arrival // for the next probe that waits
	probes       uint64   // that have waited

	spareFrames, spareInbounds int // how many are on the free lists

	pool       payload.Pool
	scratch    []byte // where unwanted bytes go
	copied     int    // bytes of copies for replay
	buffered   int64  // bytes of buffered sends
	unpromised credit.Pool
	stats      Stats
	notices    bulletin

	urgent        bool // there is, or was, an urgent context
	watching      bool // a look at the rails is due
	beats         beats
	toAcknowledge []*peer
	closing       bool
	shut          atomic.Bool // closing, for who has not the lock
	over          bool        // nothing more is started in the background
	closer        *closer
	background    sync.WaitGroup // address look-ups and calls
	cancel        context.CancelFunc
	lookups       context.Context
	answer        atomic.Value // of type time.Time: when the launcher last answered a look-up
}

type openModule struct {
	component string
	module    btl.Module
	overrides selection.Overrides
}

// Config is what a PML is opened with.
type Config struct {
	Job        Job
	Params     *param.Values
	Components []btl.Component
	Engine     engine.Options
	Crowd      Crowd
	Traits     representation.Traits // how this process has values in memory
	// Appeal, unless it is nil, has another process asked to connect to this one, as if
	// its [PML.Appealed] were called. It may block.
	Appeal func(rank int) error
	// Trace, unless it is nil, records what happens to messages.
	Trace *trace.Recorder
	// Log takes a line for people; it must not block.
	Log func(btl.LogLevel, string)
}

// Open starts the message layer: it opens the modules and makes their addresses
// known. All processes of the job do so; it contains the start-up's one barrier.
func Open(ctx context.Context, cfg Config) (*PML, error) {
	given.Context(ctx)
	tune, err := tunablesFrom(cfg.Params)
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(cfg.Engine)
	if err != nil {
		return nil, err
	}
	p := &PML{
		engine: eng, job: cfg.Job, rank: cfg.Job.Rank(), log: cfg.Log, appeal: cfg.Appeal, trace: cfg.Trace, crowd: cfg.Crowd, traits: cfg.Traits,
		tune:          tune,
		bounds:        ordinary,
		peers:         make(map[int]*peer),
		acquaintances: make(map[int]*acquaintance),
		contexts:      make(map[uint64]*Context),
		scratch:       make([]byte, 64<<10),
	}
	p.instant.pml, p.instant.done = p, true
	p.turns.most = p.crowd.contacts()
	if cfg.Params.Value("pml_rail_timeout").Source.Kind == param.Default {
		p.tune.railTimeout = p.crowd.slowly(p.tune.railTimeout)
	}
	p.pool.Limit = max(p.tune.copyPool, 1<<20)
	p.unpromised = p.tune.unexpectedMax
	p.lookups, p.cancel = context.WithCancel(context.Background())
	p.host = &host{pml: p, params: cfg.Params}
	eng.Lock()
	eng.AddProgressor(p)
	err = p.start(ctx, cfg)
	p.startBeats()
	if err != nil {
		err = errors.Join(err, p.closeModules())
	}
	eng.Unlock()
	if err != nil {
		p.cancel()
		eng.Close()
		return nil, err
	}
	return p, nil
}

// start opens the modules. The lock is held all the time, so that nothing that
// arrives is looked at before the secret is known.
func (p *PML) start(ctx context.Context, cfg Config) error {
	secret := selection.Secret(cfg.Components, cfg.Params)
	for _, c := range cfg.Components {
		if err := p.openComponent(c, secret); err != nil {
			return err
		}
	}
	if len(p.modules) == 0 {
		var reasons []error
		for _, o := range p.refusals {
			reasons = append(reasons, o.Refusal)
		}
		return fmt.Errorf("rank %d: no transport is available:\n%w", p.rank, errors.Join(reasons...))
	}
	h := p.ownHello()
	if left := h.Fit(); len(left) > 0 {
		p.host.Logf(btl.LogWarn, "rank %d: no peer is told where it can be reached by %s: the addresses of all transports take more than %d bytes; "+
			"name the interfaces that are wanted (btl_tcp_if_include) or the transports (btl)", p.rank, strings.Join(left, ", "), wire.MaxHello)
	}
	var err error
	if p.host.hello, err = h.Encode(); err != nil {
		return fmt.Errorf("rank %d: %w", p.rank, err)
	}
	p.host.keys = handshake.NewKeyPair()
	p.engine.Pause() // the others may take their time
	p.host.secret, err = exchange(ctx, cfg, wire.EncodeRecord(p.host.keys.Public(), p.host.hello))
	p.engine.Resume()
	if err != nil {
		return fmt.Errorf("rank %d: start-up: %w", p.rank, err)
	}
	p.host.identity = handshake.NewIdentity(p.job.Name(), p.host.secret, p.rank)
	return nil
}

// ownHello is what this process tells of itself, the transports of the highest
// exclusivity first.
func (p *PML) ownHello() *wire.Hello {
	h := &wire.Hello{Credit: p.tune.creditFirst, Traits: p.traits, Host: p.job.Hostname()}
	open := slices.Clone(p.modules)
	slices.SortStableFunc(open, func(a, b openModule) int {
		return cmp.Compare(b.module.Attr().Exclusivity, a.module.Attr().Exclusivity)
	})
	for _, m := range open {
		if a := m.module.Address(); a != nil {
			h.Modules = append(h.Modules, wire.Module{Component: m.component, Address: a})
		}
	}
	return h
}

// openComponent opens the modules of a component, and uses those that keep messages as secret as
// the user wants them by the setting secret.
func (p *PML) openComponent(c btl.Component, secret string) error {
	modules, err := c.Open(p.host)
	_, unavailable := errors.AsType[*btl.UnavailableError](err)
	switch {
	case unavailable:
		p.refuse(c, btl.LogInfo, err)
		return nil
	case err != nil:
		return fmt.Errorf("rank %d: btl %s: %w", p.rank, c.Name(), err)
	}
	for _, m := range modules {
		if exposed := selection.Exposed(c.Name(), m.Attr(), secret); exposed != nil {
			p.refuse(c, btl.LogWarn, exposed)
			err = errors.Join(err, m.Close())
			continue
		}
		p.modules = append(p.modules, openModule{c.Name(), m, selection.OverridesFrom(p.host.params, c.Name())})
		p.engine.AddProgressor(m)
	}
	return err
}

// refuse takes note of a component that is not used, or of one of its modules.
func (p *PML) refuse(c btl.Component, level btl.LogLevel, reason error) {
	p.host.Logf(level, "rank %d: %v", p.rank, reason)
	p.refusals = append(p.refusals, selection.Offer{Component: c.Name(), Refusal: reason})
}

// resolve learns the addresses of a peer and attaches rails to it.
func (p *PML) resolve(pe *peer) {
	if pe.rank == p.rank {
		p.engine.Post(func() { p.resolved(pe, p.host.hello, nil) })
		return
	}
	p.acquaint(pe.rank, func(a *acquaintance, err error) {
		p.engine.Post(func() { p.resolved(pe, a.hello, err) })
	})
}

// resolved takes the outcome of resolve.
func (p *PML) resolved(pe *peer, b []byte, err error) {
	if pe.ways.Stage != rails.Resolving {
		return // it has connected to us meanwhile, or the world closes
	}
	var h *wire.Hello
	if err == nil {
		h, err = wire.DecodeHello(b)
	}
	if err != nil {
		p.noWay(pe, nil, err)
		return
	}
	p.inTurn(pe, func() { p.meetAt(pe, h) })
}

// meetAt makes contact with a peer that was looked up.
func (p *PML) meetAt(pe *peer, h *wire.Hello) {
	if pe.ways.Stage != rails.Resolving {
		pe.endTurn()
		return
	}
	if err := p.attachRails(pe, h, nil); err != nil {
		pe.endTurn()
		p.noWay(pe, h, err)
		return
	}
	pe.connect()
	pe.pump()
}

// noWay notes that this process knows no way to a peer.
func (p *PML) noWay(pe *peer, h *wire.Hello, err error) {
	pe.why.unreached = fmt.Errorf("its addresses: %w", err)
	pe.ways.NoWay(h != nil && p.shares(h))
	pe.proceed()
}

// shares reports whether a peer uses a transport that this process uses too: it may
// know a way where we do not.
func (p *PML) shares(h *wire.Hello) bool {
	return slices.ContainsFunc(p.modules, func(m openModule) bool {
		_, found := h.Address(m.component)
		return found && m.module.Address() != nil
	})
}

// offers asks every module for its paths to a peer.
func (p *PML) offers(pe *peer, h *wire.Hello) []selection.Offer {
	offers := append([]selection.Offer(nil), p.refusals...)
	for _, m := range p.modules {
		o := selection.Offer{Module: m.module, Overrides: m.overrides, StandsBy: p.tune.failover.allows(m.component)}
		address, found := h.Address(m.component)
		if !found && pe.rank != p.rank && m.module.Address() != nil {
			o.Refusal = fmt.Errorf("rank %d does not use btl %s, or could not open it (with -p verbose=1 it says why)", pe.rank, m.component)
		} else {
			o.Paths, o.Refusal = m.module.Reach(btl.Peer{Rank: pe.rank, Host: h.Host, Address: address})
		}
		offers = append(offers, o)
	}
	return offers
}

// Uses reports whether a component has a module here.
func (p *PML) Uses(component string) bool {
	return slices.ContainsFunc(p.modules, func(m openModule) bool { return m.component == component })
}

func (p *PML) componentOf(m btl.Module) string { return p.opened(m).component }

// opened returns what is known of a module of ours; nothing of any other.
func (p *PML) opened(m btl.Module) openModule {
	for _, o := range p.modules {
		if o.module == m {
			return o
		}
	}
	return openModule{}
}
