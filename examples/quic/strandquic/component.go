package strandquic

import (
	"net"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/wireup"
)

func init() { btl.Register(Component{}) }

const (
	prefix = "btl_quic_"
	pLanes = prefix + "lanes"
	pQueue = prefix + "queue"

	// maxFrame is the largest payload of a frame in bytes.
	maxFrame = 64 << 10
	maxLanes = 64
	maxPaths = 16 + wireup.MostSpares
	latency  = 60 * time.Microsecond
)

// Component is the transport over QUIC.
type Component struct {
	wrap func(*net.UDPConn) net.PacketConn // of tests, which lose packets
}

// Name implements [btl.Component].
func (Component) Name() string { return "quic" }

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) {
	r.Declare(wireup.AllParameters(prefix)...)
	r.Declare(
		param.Spec{Name: pLanes, Kind: param.Int, Default: "8", Min: "1", Max: "64", AtMost: "pml_lanes", Unit: "streams", Level: param.Tuner,
			Help: "How many lanes there are to each peer, each a stream of its own: a lost packet delays no other lane."},
		param.Spec{Name: pQueue, Kind: param.Size, Default: "1M", Min: "1K", Max: "1G", Level: param.Tuner,
			Help: "How many bytes to one peer may wait to be written before the sender is held up."},
	)
}

// Open implements [btl.Component].
func (c Component) Open(h btl.Host) ([]btl.Module, error) {
	m, err := newModule(h, c)
	if err != nil {
		return nil, err
	}
	return []btl.Module{m}, nil
}

func (m *module) describe() {
	m.Attrs = btl.Attr{
		Name:        "quic",
		EagerLimit:  maxFrame,
		MaxFrame:    maxFrame,
		Bandwidth:   m.Local.Speed(5_000),
		Latency:     latency,
		Secrecy:     btl.Encrypted,
		Exclusivity: 60, // below tcp's: it serves only if tcp is left out
		Lanes:       m.lanes,
		Ordered:     true,
		Reliable:    true,
	}
}
