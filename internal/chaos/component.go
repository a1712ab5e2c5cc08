package chaos

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Component is the transport, with a network of its own: modules of the same
// component reach each other.
type Component struct {
	config  Config
	mu      sync.Mutex
	last    uint64
	modules map[uint64]*module
	broken  bool // nothing gets through
}

// New makes a transport and its network.
func New(c Config) *Component {
	return &Component{config: c, modules: make(map[uint64]*module)}
}

// Name implements [btl.Component].
func (c *Component) Name() string { return "chaos" }

// Declare implements [btl.Component]: there are no parameters.
func (c *Component) Declare(*param.Registry) {}

// Open implements [btl.Component].
func (c *Component) Open(h btl.Host) ([]btl.Module, error) {
	m := &module{
		c: c, config: c.config, host: h, endpoints: make(map[*endpoint]struct{}),
		random: rand.New(rand.NewPCG(c.config.Seed, uint64(h.Rank())+1)),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	m.id = c.last
	c.modules[m.id] = m
	return []btl.Module{m}, nil
}

// lookup returns a module that can be reached now.
func (c *Component) lookup(id uint64) *module {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return nil
	}
	return c.modules[id]
}

// Break takes the network down, or brings it up again: all connections are cut, and
// none can be made as long as it is down.
func (c *Component) Break(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = down
	for _, m := range c.modules {
		m.post(func() {
			for e := range m.endpoints {
				if down && e.state != idle {
					e.fail("receiving", errCut)
				}
			}
		})
	}
}

func (c *Component) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.modules, id)
}

func encodeAddress(id uint64) []byte { return binary.LittleEndian.AppendUint64(nil, id) }

func decodeAddress(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("chaos: an address has 8 bytes, not %d", len(b))
	}
	return binary.LittleEndian.Uint64(b), nil
}
