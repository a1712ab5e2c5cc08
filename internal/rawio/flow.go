package rawio

import "time"

// A Flow is how the congestion control of a TCP connection stands.
type Flow struct {
	Algorithm string        // by the system's name
	Window    int           // bytes that may be under way, by congestion control or by the peer's receive window
	RoundTrip time.Duration // smoothed
	Timeout   time.Duration // until what is not acknowledged is sent again
	Resent    int64         // segments, since the connection began
	Timeouts  int64         // that have passed since then; -1 if the system does not count them
}

// A Stall is what the system of a TCP connection's sender knows of segments that are not acknowledged.
type Stall struct {
	UnderWay  int           // bytes that are not, with those that are still to be sent
	Resent    int           // how often the first of them was sent again, one timeout after the other
	Segment   int           // how many bytes a segment has at most
	Closed    bool          // the peer's window is closed: nothing is lost
	Silent    time.Duration // since anything arrived from the peer
	Confirmed int64         // bytes that the peer has acknowledged since the connection began
}
