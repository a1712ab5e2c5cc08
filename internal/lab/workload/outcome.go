package workload

import (
	"encoding/json"

	"github.com/strandmp/strand"
)

// An Outcome is a run as rank 0 tells it.
type Outcome struct {
	Workload   string          `json:"workload"`
	Parameters json.RawMessage `json:"parameters"` // all
	Ranks      int             `json:"ranks"`
	Detail     json.RawMessage `json:"detail"` // the workload's own: [PingPongResult], [FarmResult], …

	// Members are all ranks, by number.
	Members []Member `json:"members"`
	// Course is how rank 0's connections fared, if the spec asks for it.
	Course []Moment `json:"course,omitempty"`
}

// A Member is what a rank's transports have done from the start of its world to the
// end of the run.
type Member struct {
	Rank        int          `json:"rank"`
	Messages    strand.Stats `json:"messages"`
	Connections []Connection `json:"connections"`
}

// A Connection is a rank's end of one.
type Connection struct {
	Peer      int    `json:"peer"`
	Component string `json:"component"`
	Module    string `json:"module"`
	Desc      string `json:"desc"`

	// With all headers of the transport's own.
	BytesSent     uint64 `json:"bytes_sent"`
	BytesReceived uint64 `json:"bytes_received"`

	// What its congestion control tells, as in [btl.Congestion]; -1 where it does not. Window is
	// in bytes and RoundTrip in seconds, over all looks at the connection.
	Algorithm string `json:"algorithm,omitempty"`
	Resent    int64  `json:"resent"`
	Timeouts  int64  `json:"timeouts"`
	Window    Spread `json:"window,omitzero"`
	RoundTrip Spread `json:"round_trip,omitzero"`
}

// A Spread is the distribution of a few values.
type Spread struct {
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
}

// A Moment is all connections of a rank together at one time.
type Moment struct {
	Seconds   float64 `json:"seconds"`    // since the start of the run
	Windows   int     `json:"windows"`    // the sum, in bytes
	RoundTrip float64 `json:"round_trip"` // the longest, in seconds
	Resent    int64   `json:"resent"`     // the sum
	BytesSent uint64  `json:"bytes_sent"` // the sum
}
