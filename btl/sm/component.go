package sm

import (
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func init() { btl.Register(Component{}) }

// Names of the parameters.
const (
	prefix          = "btl_sm_"
	pEagerLimit     = prefix + "eager_limit"
	pMaxSendSize    = prefix + "max_send_size"
	pFboxSize       = prefix + "fbox_size"
	pConnectTimeout = prefix + "connect_timeout"
	pSingleCopy     = prefix + "single_copy_mechanism"
)

// Component is the transport over shared memory.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "sm" }

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) {
	r.Declare(
		param.Spec{Name: pEagerLimit, Kind: param.Size, Default: "4K", Min: "0", Max: "1G", Level: param.Tuner,
			Help: "Messages up to this size are sent without asking the receiver first. Unless it is set, longer ones are too, up to pml_eager_max and the size of a frame (btl_sm_max_send_size)."},
		param.Spec{Name: pMaxSendSize, Kind: param.Size, Default: "1M", Min: "1K", Max: "1G", Level: param.Tuner,
			Help: "Largest piece of a long message that is sent as one frame."},
		param.Spec{Name: pFboxSize, Kind: param.Size, Default: "256K", Min: "32K", Max: "64M", Level: param.Tuner,
			Help: "Shared memory for each direction between two ranks, rounded up to a power of two: what may be under way before the sender has to wait. Unless it is set, a job of more than 16 ranks has half of that, of more than 32 a quarter, and so on, 32K at least. It is taken when the two first talk to each other, twice and a page, by the one that was connected to: 64 ranks of a host that all talk to all take 270M of it by default, 4.2M a rank."},
		param.Spec{Name: pSingleCopy, Kind: param.Enum, Default: "cma", Choices: []string{"cma", "none"}, Level: param.Tuner,
			Help: "How frames of more than 32K may go without a copy in between. cma: the receiver may read them from the sender's memory (process_vm_readv, Linux's cross-memory attach), if the system lets it, and does so for those lengths that take long by copies and have come sooner that way; where ranks outnumber the processors, all of more than 64K. none: all are copied into shared memory and out of it. It holds for both directions, so it is none if it is so on either side."},
		param.Spec{Name: pConnectTimeout, Kind: param.Duration, Default: "10s", Min: "1ms", Max: "1h", Level: param.Tuner,
			Help: "How long connecting to a rank of this host may take, with the proof that both belong to the job."},
	)
}

// Open implements [btl.Component].
func (Component) Open(h btl.Host) ([]btl.Module, error) { return open(h) }

// config is the values of the parameters.
type config struct {
	eagerLimit int
	eagerFixed bool // by the user
	maxFrame   int
	ring       int // bytes, a power of two
	lend       bool
	timeout    time.Duration
}

func readConfig(v *param.Values, ranks int) config {
	ring := minRing
	for ring < int(v.Size(pFboxSize)) {
		ring *= 2
	}
	if v.Value(pFboxSize).Source.Kind == param.Default {
		ring = shared(ring, ranks)
	}
	return config{
		eagerLimit: int(v.Size(pEagerLimit)),
		eagerFixed: v.Value(pEagerLimit).Source.Kind != param.Default,
		maxFrame:   int(v.Size(pMaxSendSize)),
		ring:       ring,
		lend:       v.String(pSingleCopy) == "cma",
		timeout:    v.Duration(pConnectTimeout),
	}
}

// shared is the size of a ring where so many ranks may talk to each other. With many a rank's rings
// together take a bounded share of the host.
func shared(ring, ranks int) int {
	for n := 16; n < ranks && ring > minRing; n *= 2 {
		ring /= 2
	}
	return ring
}

// attributes of the module. Bandwidth and latency are not measured: these values rank shared
// memory before any network and behind the process itself.
func (c *config) attributes() btl.Attr {
	return btl.Attr{
		Name:        "sm",
		EagerLimit:  c.eagerLimit,
		EagerFixed:  c.eagerFixed,
		MaxFrame:    c.maxFrame,
		Bandwidth:   80_000,
		Latency:     300 * time.Nanosecond,
		Exclusivity: 1024,
		Lanes:       1,
		Ordered:     true,
		Reliable:    true,
		Secrecy:     btl.Within,
	}
}
