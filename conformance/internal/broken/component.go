package broken

import (
	"fmt"
	"io"
	"sync"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

// A Fault is one way to break a transport. The functions that are set replace
// what the transport does; the others are nil.
type Fault struct {
	Name string
	// Case is the one that has to notice, Rule what it has to say.
	Case, Rule string

	config  func(*mem.Config)
	attr    func(*Module, btl.Attr) btl.Attr
	address func(*Module, []byte) []byte
	open    func(*Module) // after Open
	reach   func(*Module, btl.Peer)
	paths   func([]btl.Path)
	accept  func(*Module, int) int
	stray   func(*Module) // a stranger has written something
	tick    func(*Link)   // with each Progress
	always  bool          // Progress has always done something
	connect func(*Link)   // after Connect
	extend  func(*Link) btl.Endpoint

	send     func(l *Link, f *btl.Frame, lane int) btl.Result
	recall   func(*Link) int
	again    func(l *Link, place uint64, b []byte) bool
	save     func(*Link)
	close    func(*Link) error
	up       func(l *Link, hello []byte)
	writable func(*Link)
	released func(*Link, *btl.Frame)
	deliver  func(l *Link, header, payload []byte) error
	begin    func(l *Link, header []byte, size int) (*btl.Landing, error)
	end      func(*Link, *btl.Landing) error
	drop     func(*Link, *btl.Landing)
	down     func(*Link, error)
}

// A Component is a broken transport.
type Component struct {
	*mem.Component
	fault *Fault
	done  chan struct{} // closed by Stop

	mu      sync.Mutex
	modules map[string]*Module // by address
	leaks   []io.Closer
	heap    [][]byte // what is never given back
	silent  bool     // Reach gives neither a path nor a reason
}

// New makes a transport with a fault.
func New(f Fault, config mem.Config) *Component {
	if f.config != nil {
		f.config(&config)
	}
	return &Component{Component: mem.New(config), fault: &f, done: make(chan struct{}), modules: make(map[string]*Module)}
}

// Stop ends what the fault has left behind in this process.
func (c *Component) Stop() {
	close(c.done)
	for _, leak := range c.leaks {
		leak.Close()
	}
}

// Open implements [btl.Component].
func (c *Component) Open(h btl.Host) ([]btl.Module, error) {
	m := &Module{c: c, Host: h}
	m.mail = &mailbox{Loop: h.Loop()}
	inner, err := c.Component.Open(m)
	if err != nil {
		return nil, err
	}
	m.inner = inner[0]
	c.mu.Lock()
	c.modules[string(m.inner.Address())] = m
	c.mu.Unlock()
	if c.fault.open != nil {
		c.fault.open(m)
	}
	return []btl.Module{m}, nil
}

// Wire implements the hook of the suite.
func (c *Component) Wire(address []byte) (io.WriteCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.modules[string(address)]
	if m == nil {
		return nil, fmt.Errorf("broken: no module has address %x", address)
	}
	return stray{m}, nil
}

type stray struct{ m *Module }

func (s stray) Write(b []byte) (int, error) {
	if s.m.c.fault.stray != nil {
		s.m.Host.Loop().Post(func() { s.m.c.fault.stray(s.m) })
	}
	return len(b), nil
}

func (s stray) Close() error { return nil }

// Sever implements the hook of the suite.
func Sever(ep btl.Endpoint) error {
	switch ep := ep.(type) {
	case *Link:
		return mem.Sever(ep.inner)
	case interface{ link() *Link }:
		return mem.Sever(ep.link().inner)
	}
	return fmt.Errorf("broken: %T is no endpoint of this transport", ep)
}

// Inject implements the hook of the suite.
func Inject(ep btl.Endpoint, b []byte) error {
	switch ep := ep.(type) {
	case *Link:
		return mem.Inject(ep.inner, b)
	case interface{ link() *Link }:
		return mem.Inject(ep.link().inner, b)
	}
	return fmt.Errorf("broken: %T is no endpoint of this transport", ep)
}

// A Module stands between the suite and a module of the correct transport. To
// that it is the host.
type Module struct {
	btl.Host
	c     *Component
	inner btl.Module
	mail  *mailbox
	links []*Link
	calls int

	latest *Link // that has delivered
}

// nth reports whether this is the nth call, or a multiple of it.
func (m *Module) nth(n int) bool {
	m.calls++
	return m.calls%n == 0
}

// Loop gives the correct transport a loop that can be polled.
func (m *Module) Loop() btl.Loop { return m.mail }

// Accept implements [btl.Host].
func (m *Module) Accept(_ btl.Module, rank int, hello []byte, path int, ep btl.Endpoint) (btl.Receiver, error) {
	l := m.newLink(ep)
	if m.c.fault.accept != nil {
		rank = m.c.fault.accept(m, rank)
	}
	r, err := m.Host.Accept(m, rank, hello, path, l.outer())
	if err != nil {
		return nil, err
	}
	l.r = r
	return l, nil
}

// Attr implements [btl.Module].
func (m *Module) Attr() btl.Attr {
	a := m.inner.Attr()
	if m.c.fault.attr != nil {
		m.calls++
		a = m.c.fault.attr(m, a)
	}
	return a
}

// Address implements [btl.Module].
func (m *Module) Address() []byte {
	a := m.inner.Address()
	if m.c.fault.address != nil {
		m.calls++
		a = m.c.fault.address(m, a)
	}
	return a
}

// Reach implements [btl.Module].
func (m *Module) Reach(p btl.Peer) ([]btl.Path, error) {
	if m.c.fault.reach != nil {
		m.c.fault.reach(m, p)
	}
	paths, err := m.inner.Reach(p)
	if m.c.silent {
		err = nil
	}
	if m.c.fault.paths != nil && err == nil {
		m.c.fault.paths(paths)
	}
	return paths, err
}

// Connect implements [btl.Module].
func (m *Module) Connect(p btl.Peer, path btl.Path, r btl.Receiver) (btl.Endpoint, error) {
	l := m.newLink(nil)
	l.r, l.address = r, p.Address
	ep, err := m.inner.Connect(p, path, l)
	if err != nil {
		return nil, err
	}
	l.inner = ep
	if m.c.fault.connect != nil {
		m.c.fault.connect(l)
	}
	return l.outer(), nil
}

// Progress implements [btl.Module].
func (m *Module) Progress() bool {
	if m.c.fault.tick != nil {
		for _, l := range m.links {
			if !l.closed {
				m.c.fault.tick(l)
			}
		}
	}
	return m.inner.Progress() || m.c.fault.always
}

// Close implements [btl.Module].
func (m *Module) Close() error {
	for _, l := range m.links {
		l.closed = true
	}
	m.links = nil
	return m.inner.Close()
}

// A mailbox is a loop whose posts can be run by a Poll of the endpoint, too.
type mailbox struct {
	btl.Loop
	mu    sync.Mutex
	posts []func()
}

// Post implements [btl.Loop].
func (b *mailbox) Post(f func()) {
	b.mu.Lock()
	b.posts = append(b.posts, f)
	b.mu.Unlock()
	b.Loop.Post(func() { b.run() })
}

func (b *mailbox) run() bool {
	b.mu.Lock()
	posts := b.posts
	b.posts = nil
	b.mu.Unlock()
	for _, f := range posts {
		f()
	}
	return len(posts) > 0
}
