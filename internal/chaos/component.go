package chaos

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/directory"
	"github.com/strandmp/strand/param"
)

// Component is the transport, with a network of its own: modules of the same
// component reach each other.
type Component struct {
	config  Config
	modules directory.Directory[*module, *endpoint]
	broken  atomic.Bool // nothing gets through
}

// New makes a transport and its network.
func New(c Config) *Component {
	return &Component{config: c}
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
	m.id = c.modules.Enter(m)
	return []btl.Module{m}, nil
}

// Break takes the network down, or brings it up again: all connections are cut, and
// none can be made as long as it is down.
func (c *Component) Break(down bool) {
	c.broken.Store(down)
	for _, m := range c.modules.Modules() {
		m.post(func() {
			for e := range m.endpoints {
				if down && e.state != idle {
					e.fail("receiving", errCut)
				}
			}
		})
	}
}

func encodeAddress(id uint64) []byte { return binary.LittleEndian.AppendUint64(nil, id) }

func decodeAddress(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("chaos: an address has 8 bytes, not %d", len(b))
	}
	return binary.LittleEndian.Uint64(b), nil
}
