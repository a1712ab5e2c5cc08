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
