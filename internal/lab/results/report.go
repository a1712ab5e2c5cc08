package results

import (
	"slices"
	"time"

	"github.com/strandmp/strand/internal/machine"
)

// Format is the version of the file's format. It changes when the meaning of a field does. A new
// field makes no new format: programs that do not know it ignore it.
//
// In format 1 the delays of hol count from when a message was sent, not from when it was to be.
// The round trips of pingpong have rank 1's check of the data in them. Quantiles of delays are
// values that were measured, never between two of those. Ratios in summaries are the median of
// all pairs of runs. Such files are read, and keep their format.
const (
	Format      = 2
	oldestKnown = 1
)

// A Report is one comparison, finished or not.
type Report struct {
	Format  int    `json:"format"`
	Version string `json:"version"` // of strand

	// Command is how the comparison was started, for who wants to repeat it.
	Command []string `json:"command"`

	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero: it is still running, or was killed
	// Interrupted says that it was ended before all runs were done.
	Interrupted bool `json:"interrupted,omitzero"`

	Seed uint64 `json:"seed"` // of all chances; those of the runs follow from it
	Runs int    `json:"runs"` // asked for, of each variant in each cell

	// By are the metrics by which variants are compared, where it is not the headline.
	By []string `json:"by,omitzero"`

	// Machine conducted the comparison, and ran all ranks unless there are hosts. Hosts are those
	// that were named; rank r ran on host r, counted round and round.
	Machine  machine.Machine   `json:"machine"`
	Hosts    []machine.Machine `json:"hosts,omitzero"`
	Links    Links             `json:"links"`
	Variants []Variant         `json:"variants"` // the first that can run is what the others are compared with
	Cells    []Cell            `json:"cells"`    // all that were asked for, in order; those to come have no runs yet
}

// A LinkKind is what carried the frames.
type LinkKind string

// Kinds of links.
const (
	Netem     LinkKind = "netem"           // the kernel's emulation
	UserSpace LinkKind = "user-space link" // our own
	Loopback  LinkKind = "loopback"        // one host, nothing emulated
	Real      LinkKind = "real network"    // hosts that were named
)

// LinkKinds are all of them.
var LinkKinds = []LinkKind{Netem, UserSpace, Loopback, Real}

// Links says what carried the frames.
type Links struct {
	Kind LinkKind `json:"kind"`
	// Why is why it is not a better kind: "netem: this kernel has none".
	Why string `json:"why,omitzero"`
}

// A Variant is a transport with its parameters.
type Variant struct {
	// Name is unique in a report: tcp, or tcp(congestion=bbr,links=4).
	Name string `json:"name"`
	// BTL is the parameter btl of its runs, but for what serves messages to oneself.
	BTL string `json:"btl"`
	// Params are further parameters of its runs, by full name.
	Params map[string]string `json:"params,omitzero"`
	// Facts are what was found to be so while it ran, by the names below.
	Facts map[string]string `json:"facts,omitzero"`
	// Unable is why the variant can not run at all here; its cells are then empty.
	Unable string `json:"unable,omitzero"`
}

// Names of facts. Others are allowed, and shown as they are.
const (
	FactCongestion    = "congestion control"
	FactStack         = "stack" // kernel, or user space and whose
	FactMTU           = "MTU"
	FactOffloads      = "offloads"
	FactSendBuffer    = "send buffer"
	FactReceiveBuffer = "receive buffer"
	FactNagle         = "Nagle's algorithm"
	FactConnections   = "connections a peer"
	FactStreams       = "streams a connection"
	FactOrdering      = "ordering"
)

// Variant returns the variant of a name, nil if there is none.
func (r *Report) Variant(name string) *Variant {
	for i := range r.Variants {
		if r.Variants[i].Name == name {
			return &r.Variants[i]
		}
	}
	return nil
}

// Measured tells whether any run is over, failed or not.
func (r *Report) Measured() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return len(c.Runs) > 0 })
}

// Progress returns how many runs are over, failed or not, and how many there are to be.
// Variants and cells that can not run have none.
func (r *Report) Progress() (over, all int) {
	able := 0
	for _, v := range r.Variants {
		if v.Unable == "" {
			able++
		}
	}
	for i := range r.Cells {
		over += len(r.Cells[i].Runs)
		if r.Cells[i].Unable == "" {
			all += able * r.Runs
		}
	}
	return over, max(over, all)
}
