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
	weather atomic.Int32 // a Weather
}

// New makes a transport and its network.
func New(c Config) *Component {
	return &Component{config: c}
}

// Name implements [btl.Component].
func (c *Component) Name() string { return c.config.name() }

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

func encodeAddress(id uint64) []byte { return binary.LittleEndian.AppendUint64(nil, id) }

func decodeAddress(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("chaos: an address has 8 bytes, not %d", len(b))
	}
	return binary.LittleEndian.Uint64(b), nil
}
