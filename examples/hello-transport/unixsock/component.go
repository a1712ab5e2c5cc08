package unixsock

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

func init() { btl.Register(Component{}) }

// Names of the parameters.
const (
	pQueue   = "btl_unix_queue"
	pTimeout = "btl_unix_connect_timeout"
)

// maxFrame is the largest payload of a frame in bytes.
const maxFrame = 64 << 10

// Component is the transport over Unix-domain sockets.
type Component struct{}

// Name implements [btl.Component].
func (Component) Name() string { return "unix" }

// Declare implements [btl.Component].
func (Component) Declare(r *param.Registry) {
	r.Declare(
		param.Spec{Name: pQueue, Kind: param.Size, Default: "1M", Min: "1K", Max: "1G", Level: param.Tuner,
			Help: "How many bytes to one peer may wait to be written before the sender is held up."},
		param.Spec{Name: pTimeout, Kind: param.Duration, Default: "10s", Min: "1ms", Max: "1h", Level: param.Tuner,
			Help: "How long connecting to a peer may take, with the proof that both belong to the job."},
	)
}

// Open implements [btl.Component].
func (Component) Open(h btl.Host) ([]btl.Module, error) {
	// Sockets with a name that is no file (unix(7)) leave nothing behind.
	if runtime.GOOS != "linux" {
		return nil, &btl.UnavailableError{Component: "unix", Reason: "abstract Unix-domain sockets exist on Linux only, this is " + runtime.GOOS}
	}
	home, err := home()
	if err != nil {
		return nil, &btl.UnavailableError{Component: "unix", Reason: err.Error(), Remedy: "mount /proc"}
	}
	m, err := newModule(h, home)
	if err != nil {
		return nil, fmt.Errorf("btl unix: %w", err)
	}
	return []btl.Module{m}, nil
}

// home identifies the kernel and the network namespace, within which the names
// of sockets are known.
func home() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	namespace, err := os.Readlink("/proc/self/ns/net")
	return string(boot) + namespace, err
}

var attributes = btl.Attr{
	Name:        "unix",
	EagerLimit:  16 << 10,
	MaxFrame:    maxFrame,
	Bandwidth:   20_000,
	Latency:     15 * time.Microsecond,
	Exclusivity: 50, // below tcp's: it serves only if tcp is left out
	Lanes:       1,
	Ordered:     true,
	Reliable:    true,
	Secrecy:     btl.Within,
}
