package btltest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// A Host is a [btl.Host] for one module.
type Host struct {
	// Clock is its loop. Hosts whose modules are to talk to each other may share one.
	Clock *Loop
	// Refuse is what Accept answers, if it is not nil.
	Refuse error
	// Accepted are the receivers of the endpoints that peers have opened, in order.
	Accepted []*Receiver

	t          testing.TB
	rank, size int
	component  btl.Component
	values     *param.Values
	opened     bool

	mu    sync.Mutex
	lines []string
}

var _ btl.Host = (*Host)(nil)

// NewHost makes a host of one rank for a component, with parameters that are set as a program
// would. All hosts have the same job and secret.
func NewHost(t testing.TB, rank, size int, c btl.Component, settings ...param.Setting) *Host {
	t.Helper()
	registry := param.NewRegistry()
	c.Declare(registry)
	values, err := registry.Resolve(param.Inputs{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return &Host{Clock: new(Loop), t: t, rank: rank, size: size, component: c, values: values}
}

// Open opens the component and returns its first module, which is closed when the test ends.
func (h *Host) Open() btl.Module {
	h.t.Helper()
	modules, err := h.component.Open(h)
	if err != nil || len(modules) == 0 {
		h.t.Fatalf("Open: %d modules, %v", len(modules), err)
	}
	h.opened = true
	h.t.Cleanup(func() {
		for _, m := range modules {
			if err := m.Close(); err != nil {
				h.t.Errorf("Close: %v", err)
			}
		}
	})
	return modules[0]
}

// Peer is this rank as other hosts know it, with the address of its module m: an argument for Reach and
// Connect of their modules.
func (h *Host) Peer(m btl.Module) btl.Peer {
	return btl.Peer{Rank: h.rank, Host: h.Hostname(), Address: m.Address()}
}

// Rank implements [btl.Host].
func (h *Host) Rank() int { return h.rank }

// Size implements [btl.Host].
func (h *Host) Size() int { return h.size }

// Hostname implements [btl.Host].
func (h *Host) Hostname() string { return fmt.Sprintf("host%d", h.rank) }

// Job implements [btl.Host].
func (h *Host) Job() string { return "btltest" }

// Secret implements [btl.Host]. As in a program there is none until the modules are open.
func (h *Host) Secret() []byte {
	if !h.opened {
		return nil
	}
	return []byte("the secret of all jobs of btltest")
}

// PairKey implements [btl.Host]. The key is known at once.
func (h *Host) PairKey(rank int, found func(key []byte, err error)) {
	key := sha256.Sum256(fmt.Appendf(nil, "the key of ranks %d and %d", min(h.rank, rank), max(h.rank, rank)))
	found(key[:], nil)
}

// Params implements [btl.Host].
func (h *Host) Params() *param.Values { return h.values }

// Loop implements [btl.Host].
func (h *Host) Loop() btl.Loop { return h.Clock }

// Hello implements [btl.Host]. As in a program there is none until the modules are open.
func (h *Host) Hello() []byte {
	if !h.opened {
		return nil
	}
	return fmt.Appendf(nil, "hello of rank %d", h.rank)
}

// Accept implements [btl.Host].
func (h *Host) Accept(_ btl.Module, rank int, _ []byte, _ int, ep btl.Endpoint) (btl.Receiver, error) {
	if h.Refuse != nil {
		return nil, h.Refuse
	}
	r := h.NewReceiver(rank)
	r.Endpoint = ep
	h.Accepted = append(h.Accepted, r)
	return r, nil
}

// Logf implements [btl.Host]: the lines are kept. Any goroutine may call it.
func (h *Host) Logf(_ btl.LogLevel, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

// Lines are those that were logged.
func (h *Host) Lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

// NewReceiver makes a receiver for an endpoint to a rank.
func (h *Host) NewReceiver(rank int) *Receiver { return &Receiver{Rank: rank} }
