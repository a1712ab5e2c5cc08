package self

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func init() { btl.Register(Component{}) }

// Names of the parameters.
const (
	pEagerLimit = "btl_self_eager_limit"
	pQueue      = "btl_self_queue"
)

// Component is the transport from a process to itself.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "self" }

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) {
	r.Declare(
		param.Spec{Name: pEagerLimit, Kind: param.Size, Default: "1K", Min: "0", Max: "1G", Level: param.Tuner,
			Help: "Messages to oneself up to this size need not wait for their receive; a longer one stays in the sender's buffer until then and is copied once."},
		param.Spec{Name: pQueue, Kind: param.Int, Default: "256", Min: "1", Max: "1048576", Unit: "frames", Level: param.Developer,
			Help: "How many frames may be on their way before the sender has to wait."},
	)
}

// Open implements [btl.Component].
func (Component) Open(host btl.Host) ([]btl.Module, error) {
	return []btl.Module{&module{
		host:  host,
		limit: host.Params().Int(pQueue),
		attr: btl.Attr{
			Name:        "self",
			EagerLimit:  int(host.Params().Size(pEagerLimit)),
			MaxFrame:    maxFrame,
			Bandwidth:   bandwidth,
			Latency:     200 * time.Nanosecond,
			Exclusivity: 65536,
			Lanes:       1,
			Ordered:     true,
			Reliable:    true,
			Confirms:    true,
			Unbreakable: true,
			Secrecy:     btl.Within,
		},
	}}, nil
}

const (
	// maxFrame is as much as an int holds on any system: nothing is gained by
	// cutting what is copied once.
	maxFrame = 1 << 30
	// bandwidth is that of one copy in memory, in Mbit/s.
	bandwidth = 80_000
)

// module is the way from this process to itself.
type module struct {
	host      btl.Host
	attr      btl.Attr
	limit     int
	endpoints []*endpoint
	asked     bool // the loop will call wake
	closed    bool
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr { return m.attr }

// Address implements [btl.Module]: nobody else needs one.
func (m *module) Address() []byte { return nil }

// Reach implements [btl.Module].
func (m *module) Reach(peer btl.Peer) ([]btl.Path, error) {
	if peer.Rank != m.host.Rank() {
		return nil, fmt.Errorf("self: rank %d is another process; only rank %d is this one", peer.Rank, m.host.Rank())
	}
	return []btl.Path{{Bandwidth: m.attr.Bandwidth, Latency: m.attr.Latency, Weight: 1, Desc: "within the process"}}, nil
}

// Connect implements [btl.Module].
func (m *module) Connect(peer btl.Peer, _ btl.Path, recv btl.Receiver) (btl.Endpoint, error) {
	if m.closed {
		return nil, btl.ErrClosed
	}
	if _, err := m.Reach(peer); err != nil {
		return nil, err
	}
	ep := &endpoint{m: m, recv: recv}
	m.endpoints = append(m.endpoints, ep)
	m.wake()
	return ep, nil
}

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	did := false
	for i := 0; i < len(m.endpoints); i++ {
		did = m.endpoints[i].progress() || did
	}
	return did
}

// wake has the loop look soon, even if nobody waits.
func (m *module) wake() {
	if !m.asked {
		m.asked = true
		m.host.Loop().Flush((*deferred)(m))
	}
}

// deferred is the module as the loop sees it.
type deferred module

// Flush implements [btl.Deferred].
func (d *deferred) Flush() {
	m := (*module)(d)
	m.asked = false
	m.Progress()
	for _, ep := range m.endpoints {
		if ep.count > 0 {
			m.wake()
			return
		}
	}
}

// Close implements [btl.Module].
func (m *module) Close() error {
	m.closed = true
	for len(m.endpoints) > 0 {
		_ = m.endpoints[0].Close() // which takes it off the list
	}
	return nil
}
