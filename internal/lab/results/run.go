package results

import (
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Run is one variant's turn in a cell.
type Run struct {
	Variant string    `json:"variant"`
	Round   int       `json:"round"` // from 0; in each round every variant has its turn
	Order   int       `json:"order"` // from 0: which turn of the whole comparison
	Seed    uint64    `json:"seed"`  // of the network's chances: the same for all variants of a round
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // all of it, start and end of the ranks included

	// Error is why there is no result: a crash, wrong data, too long. It may have
	// several lines. Metrics of such a run do not count.
	Error string `json:"error,omitzero"`
	// Exceeded is the time limit, in seconds, if the run failed because it was not over within it.
	Exceeded float64 `json:"exceeded,omitzero"`

	// Metrics are by the names that the workload has for them, in their units.
	Metrics map[string]float64 `json:"metrics,omitzero"`
	// Delays are of messages. The first one is of all, further ones are of parts.
	Delays []Distribution `json:"delays,omitzero"`

	// Network is what the emulated links did, all paths together; nil if there are
	// none.
	Network *Network `json:"network,omitzero"`
	Rails   []Rail   `json:"rails,omitzero"`
	Windows []Window `json:"windows,omitzero"`
}

// A Network is what became of a run's frames.
type Network struct {
	emulate.Counters
	// Spoilt is how many frames were lost that should not have been, since the
	// machine was too slow. A run with many tells little.
	Spoilt uint64 `json:"spoilt,omitzero"`
	// LateSeconds is the lateness that 99 % of the frames did not exceed, LateMeanSeconds the
	// average; 0 if it is not known.
	LateSeconds     float64 `json:"late_seconds,omitzero"`
	LateMeanSeconds float64 `json:"late_mean_seconds,omitzero"`
	// Networks are each of several networks between the hosts, of which the above is the sum.
	Networks []NetworkPart `json:"networks,omitzero"`
}

// A NetworkPart is what became of the frames that went over one of several networks.
type NetworkPart struct {
	Name string `json:"name"`
	emulate.Counters
	// Seconds is for how long the network was there, and Down when nothing got through.
	Seconds float64          `json:"seconds"`
	Down    []emulate.Outage `json:"down,omitzero"`
}

// A Rail is what one rank sent to another by one way.
type Rail struct {
	Rank int    `json:"rank"`
	Peer int    `json:"peer"`
	Name string `json:"name"` // of the module, or of its connection

	SentBytes     uint64 `json:"sent_bytes"`
	ReceivedBytes uint64 `json:"received_bytes"`
	// Retransmissions are the segments or chunks that were sent again. Timeouts are how many of
	// them were sent because a timer ran out.
	Retransmissions uint64 `json:"retransmissions,omitzero"`
	Timeouts        uint64 `json:"timeouts,omitzero"`
	// RetransmissionsUnknown and TimeoutsUnknown are set where a transport, or a kernel, does not
	// tell.
	RetransmissionsUnknown bool `json:"retransmissions_unknown,omitzero"`
	TimeoutsUnknown        bool `json:"timeouts_unknown,omitzero"`
}

// A Window is how a connection's congestion window went.
type Window struct {
	Rank    int            `json:"rank"`
	Peer    int            `json:"peer"`
	Name    string         `json:"name"`
	Samples []WindowSample `json:"samples"`
}

// A WindowSample is a congestion window at some time.
type WindowSample struct {
	At    float64 `json:"at"`           // seconds since the run's start
	Bytes float64 `json:"bytes"`        // of the window
	RTT   float64 `json:"rtt,omitzero"` // smoothed, in seconds
}
