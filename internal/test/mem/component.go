package mem

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/directory"
	"github.com/strandmp/strand/param"
)

// Config says what kind of transport it is to be.
type Config struct {
	Self     bool // reaches its own rank alone, else all others
	Local    bool // releases when the peer has had the frame
	Lossy    int  // loses one frame in so many; 0: none
	Trusting bool // takes everybody for what he says he is: a fault
	Keyless  bool // is content with the secret, and asks nobody for the key of the pair: a fault
	Hasty    bool // asks for the secret while it is opened: a fault
	Curt     bool // when it closes it tells neither those it is connected with nor those let in too late: a fault
	Moves    bool // copies chunks without the loop's lock
	Unpinned bool // and pins nothing meanwhile: a fault
	Keeps    int  // so many frames, and all that the peer has not read, as a btl.Keeper; 0: it is none
	Borrows  bool // sends long payloads from where they are, after Recall too: a fault
	// ConnectTimeout is the default of the parameter: how long a peer has to answer.
	ConnectTimeout time.Duration
	MaxFrame       int
	Lanes          int
	Window         int // frames that may be under way on one endpoint
	Chunk          int // larger payloads arrive in pieces of this size, in two steps
}

// Component is the transport, with a network of its own.
type Component struct {
	config Config
	mods   directory.Directory[*Module, *Endpoint]
}

// New makes a transport and its network.
func New(c Config) *Component {
	return &Component{config: c}
}

// Name implements [btl.Component].
func (c *Component) Name() string { return "mem" }

// Declare implements [btl.Component].
func (c *Component) Declare(r *param.Registry) {
	r.Declare(
		param.Spec{Name: "btl_mem_window", Kind: param.Int, Default: "0", Min: "0",
			Help: "Frames that may be under way on one endpoint; 0 means the transport's own choice.", Level: param.Developer},
		param.Spec{Name: pConnectTimeout, Kind: param.Duration, Default: c.config.ConnectTimeout.String(), Min: "0s",
			Help: "How long a peer has to answer; 0 means as long as it likes.", Level: param.Developer},
	)
}

const pConnectTimeout = "btl_mem_connect_timeout"

// Open implements [btl.Component].
func (c *Component) Open(h btl.Host) ([]btl.Module, error) {
	m := &Module{c: c, host: h, config: c.config, endpoints: make(map[*Endpoint]struct{})}
	m.secret = h.Secret
	if c.config.Hasty {
		secret := h.Secret()
		m.secret = func() []byte { return secret }
	}
	if w := h.Params().Int("btl_mem_window"); w > 0 {
		m.config.Window = w
	}
	m.id = c.mods.Enter(m)
	return []btl.Module{m}, nil
}

// Sever cuts the connection of an endpoint; both sides notice.
func Sever(ep btl.Endpoint) error {
	e, ok := inner(ep)
	if !ok {
		return fmt.Errorf("mem: %T is no endpoint of this transport", ep)
	}
	if r := e.remote; r != nil {
		r.m.host.Loop().Post(func() { r.fail("receiving", errCut) })
	}
	e.m.host.Loop().Post(func() { e.fail("receiving", errCut) })
	return nil
}

var errCut = errors.New("the connection was cut")

// Inject has the peer of an endpoint receive a frame of nonsense.
func Inject(ep btl.Endpoint, b []byte) error {
	e, ok := inner(ep)
	if !ok {
		return fmt.Errorf("mem: %T is no endpoint of this transport", ep)
	}
	if r := e.remote; r != nil {
		header := min(len(b), btl.MaxHeader)
		p := &packet{header: bytes.Clone(b[:header]), payload: bytes.Clone(b[header:])}
		r.m.host.Loop().Post(func() { r.arrive(p) })
	}
	return nil
}

// Wire lets a stranger write to the module with this address, which throws away
// what does not come from another module.
func (c *Component) Wire(address []byte) (io.WriteCloser, error) {
	id, err := parse(address)
	if err != nil {
		return nil, err
	}
	if !c.mods.Has(id) {
		return nil, fmt.Errorf("mem: no module has address %d", id)
	}
	return stray{}, nil
}

type stray struct{}

func (stray) Write(b []byte) (int, error) { return len(b), nil }
func (stray) Close() error                { return nil }

// Module implements [btl.Module].
type Module struct {
	c         *Component
	id        uint64
	host      btl.Host
	secret    func() []byte
	config    Config
	endpoints map[*Endpoint]struct{}
	arriving  []*Endpoint // those with something in their inbox
	closed    bool
	sent      int // counts up to the next loss
}

// Attr implements [btl.Module].
func (m *Module) Attr() btl.Attr {
	return btl.Attr{
		Name: "mem", EagerLimit: 8 << 10, MaxFrame: m.config.MaxFrame, BestFrame: m.config.MaxFrame,
		Bandwidth: 10_000, Latency: time.Microsecond, Lanes: m.config.Lanes,
		Ordered: true, Reliable: m.config.Lossy == 0, Confirms: m.config.Local, Unbreakable: m.config.Local, Secrecy: btl.Within,
	}
}

// Address implements [btl.Module].
func (m *Module) Address() []byte { return binary.LittleEndian.AppendUint64(nil, m.id) }

func parse(address []byte) (uint64, error) {
	if len(address) != 8 {
		return 0, fmt.Errorf("mem: an address has 8 bytes, not %d", len(address))
	}
	return binary.LittleEndian.Uint64(address), nil
}

// Reach implements [btl.Module].
func (m *Module) Reach(p btl.Peer) ([]btl.Path, error) {
	switch own := p.Rank == m.host.Rank(); {
	case own && !m.config.Self:
		return nil, errors.New("mem: does not reach its own rank")
	case !own && m.config.Self:
		return nil, fmt.Errorf("mem: reaches its own rank alone, not rank %d", p.Rank)
	}
	if _, err := parse(p.Address); err != nil {
		return nil, err
	}
	return []btl.Path{{Bandwidth: 10_000, Latency: time.Microsecond, Weight: 1, Desc: "memory of this process"}}, nil
}

// Connect implements [btl.Module].
func (m *Module) Connect(p btl.Peer, path btl.Path, r btl.Receiver) (btl.Endpoint, error) {
	if m.closed {
		return nil, btl.ErrClosed
	}
	id, err := parse(p.Address)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{m: m, peer: p.Rank, address: id, receiver: r}
	m.endpoints[e] = struct{}{}
	return e.outer(), nil
}

// Progress implements [btl.Module]: it moves one chunk of each frame that is
// arriving.
func (m *Module) Progress() bool {
	if len(m.arriving) == 0 {
		return false
	}
	arriving := m.arriving
	m.arriving = nil
	for _, e := range arriving {
		e.queued = false
		e.advance()
	}
	return true
}

// Close implements [btl.Module].
func (m *Module) Close() error {
	m.closed, m.arriving = true, nil
	// What they have posted here may never run.
	for _, e := range m.c.mods.Leave(m.id) {
		e.failSoon("connecting", errAbsent)
	}
	for e := range m.endpoints {
		_ = e.Close() // never fails
	}
	return nil
}
