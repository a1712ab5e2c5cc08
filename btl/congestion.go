package btl

import "time"

// Congestion is how the congestion control of one connection stands, for reports: it
// shows why a network was slow. All numbers are those of the moment, or since the
// connection began.
type Congestion struct {
	// Algorithm is what it is called: cubic. Empty if that is not known.
	Algorithm string
	// Window is how many bytes may be in flight, 0 if that is not known. If the stack reports
	// that the peer's receive window is smaller, it is that.
	Window int
	// RoundTrip is the smoothed round-trip time, 0 if none was measured yet; Timeout is
	// after how long without an acknowledgement something is sent again (RFC 6298,
	// RFC 9260), 0 if that is not known.
	RoundTrip, Timeout time.Duration
	// Resent counts what was sent again, in the transport's own units (segments,
	// chunks), and Timeouts how often Timeout has passed; -1 if that is not known.
	Resent, Timeouts int64
}

// A CongestionReporter is an endpoint that can tell of its congestion control.
// Optional; it is asked by reports only, never for the sake of a message.
type CongestionReporter interface {
	// Congestion is false where there is nothing to tell, before the connection is up
	// for example.
	Congestion() (Congestion, bool)
}

// A CongestionChooser is a module that can tell which congestion control the system
// gives to its connections, by the system's names. Optional; for strand info.
type CongestionChooser interface {
	// CongestionControl is that of connections within this machine and of those to
	// others; "" where it is not known.
	CongestionControl() (within, others string)
}
