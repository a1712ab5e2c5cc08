package btl

import "time"

// A Reporter is an endpoint, or a module, that tells how it fares. Optional; it is asked for
// the sake of people (World.Rails, strand info, strand compare), and never for the sake of
// a message. The round trip of an endpoint over which a sign of life is slow to come is asked
// for, too, several times a second, before that is given up.
type Reporter interface {
	Report() Report
}

// A Report is how an endpoint, or a module, fares. What is not known is left out.
type Report struct {
	// State is how far an endpoint's connection has come: CLOSED (nothing was sent yet),
	// CONNECTING, CONNECT_ACK (the handshake is under way), CONNECTED or FAILED, which are
	// LA-MPI's names.
	State string
	// Counters are what an endpoint has carried; nil if it does not count.
	Counters *Counters
	// Paths are the network paths that an endpoint uses (of a multihomed SCTP association).
	Paths []PathState
	// Congestion is how an endpoint's congestion control stands; nil before the connection is
	// up.
	Congestion *Congestion
	// CongestionWithin and CongestionOthers are the congestion control that the system gives
	// to a module's connections within this machine and to those with others, by the
	// system's names.
	CongestionWithin, CongestionOthers string
}

// Counters are what an endpoint has carried since it was made.
type Counters struct {
	FramesSent, FramesReceived uint64
	BytesSent, BytesReceived   uint64 // payloads, headers, and what the transport adds to them
	SendCalls, ReceiveCalls    uint64 // system calls, or what stands for them
	PathsDown, PathsUp         uint64 // how often a network path went down and came up ([Report])
}

// PathState is one network path of an endpoint.
type PathState struct {
	Desc string
	Up   bool
	// Since is when the path came into this state.
	Since time.Time
}

// Congestion is how the congestion control of one connection stands. It shows why a
// network was slow. Window, RoundTrip and Timeout are those of the moment; Resent and
// Timeouts count since the connection began.
type Congestion struct {
	// Algorithm is what it is called: cubic. Empty if that is not known.
	Algorithm string
	// Window is how many bytes may be in flight, 0 if that is not known. If the stack reports
	// that the peer's receive window is smaller, it is that.
	Window int
	// RoundTrip is the smoothed round-trip time, 0 if none was measured yet. Timeout is
	// how long data waits for an acknowledgement before it is sent again (RFC 6298,
	// RFC 9260), 0 if that is not known.
	RoundTrip, Timeout time.Duration
	// Resent counts what was sent again, in the transport's own units (segments,
	// chunks). Timeouts counts how often Timeout has passed. -1 means not known.
	Resent, Timeouts int64
}

// Speed is how many bytes a second the window and the round trip let through, 0 if that is not known.
func (c Congestion) Speed() int64 {
	if c.RoundTrip <= 0 {
		return 0
	}
	return int64(float64(c.Window) / c.RoundTrip.Seconds())
}
