package chaos

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/strandmp/strand/btl"
)

// module works in its own rank's loop alone; what it has to say to another it
// posts there.
type module struct {
	c         *Component
	id        uint64
	config    Config
	host      btl.Host
	random    *rand.Rand
	endpoints map[*endpoint]struct{}
	stirring  []*endpoint // those with something to do at the next poll
	again     []*endpoint // stirring's other buffer
	due       bool        // the loop will call Flush
	lies      bool
	closed    bool
}

// Attr implements [btl.Module].
func (m *module) Attr() btl.Attr {
	c := m.config
	return btl.Attr{
		Name: m.c.Name(), EagerLimit: c.EagerLimit, MaxFrame: c.MaxFrame, BestFrame: c.BestFrame,
		Bandwidth: 10_000, Latency: time.Microsecond, Lanes: c.Lanes, Exclusivity: c.Exclusivity,
		Ordered: c.Ordered, Reliable: true, Confirms: c.Local, Unbreakable: c.Local, Secrecy: btl.Within,
	}
}

// Address implements [btl.Module].
func (m *module) Address() []byte { return encodeAddress(m.id) }

// Reach implements [btl.Module].
func (m *module) Reach(p btl.Peer) ([]btl.Path, error) {
	if p.Rank == m.host.Rank() && !m.config.Self {
		return nil, errors.New("chaos: does not reach its own rank")
	}
	if _, err := decodeAddress(p.Address); err != nil {
		return nil, err
	}
	return []btl.Path{{Bandwidth: 10_000, Latency: time.Microsecond, Weight: 1, Desc: "through chaos"}}, nil
}

// Express implements [btl.Expediter].
func (m *module) Express(p btl.Path) (btl.Path, bool) {
	p.Index, p.Urgent = urgentPath, true
	return p, m.config.Express
}

// urgentPath is the number of the path for urgent frames.
const urgentPath = 1

// Connect implements [btl.Module].
func (m *module) Connect(p btl.Peer, path btl.Path, r btl.Receiver) (btl.Endpoint, error) {
	if m.closed {
		return nil, btl.ErrClosed
	}
	id, err := decodeAddress(p.Address)
	if err != nil {
		return nil, err
	}
	e := &endpoint{m: m, peer: p.Rank, path: path.Index, address: id, receiver: r}
	m.endpoints[e] = struct{}{}
	return e, nil
}

// post runs f in the module's loop unless the module is closed by then.
func (m *module) post(f func()) {
	m.host.Loop().Post(func() {
		if !m.closed {
			f()
		}
	})
}

// polls draws how many polls something has to wait.
func (m *module) polls() int {
	if m.config.Delay == 0 {
		return 0
	}
	return m.random.IntN(m.config.Delay + 1)
}

// stir has e move at the next poll.
func (m *module) stir(e *endpoint) {
	if !e.stirring {
		e.stirring = true
		m.stirring = append(m.stirring, e)
	}
	if !m.due {
		m.due = true
		m.host.Loop().Flush(m)
	}
}

// Flush implements [btl.Deferred].
func (m *module) Flush() {
	m.due = false
	m.Progress()
}

// Progress implements [btl.Module].
func (m *module) Progress() bool {
	if len(m.stirring) == 0 {
		return false
	}
	batch := m.stirring
	m.stirring = m.again[:0]
	m.random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	did := false
	for i, e := range batch {
		batch[i] = nil
		e.stirring = false
		if e.state != ended {
			did = e.move() || did
		}
		if e.state != ended && e.restless() {
			m.stir(e)
		}
	}
	m.again = batch[:0]
	return did
}

// Close implements [btl.Module].
func (m *module) Close() error {
	for e := range m.endpoints {
		_ = e.Close()
	}
	m.closed, m.stirring = true, nil
	// What they have posted here may never run.
	for _, e := range m.c.modules.Leave(m.id) {
		e.m.post(e.refused)
	}
	return nil
}
