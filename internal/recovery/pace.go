package recovery

import "time"

// pacer spreads what may be sent over the round trip, so that it does not come to a queue all at once
// (RFC 9002, section 7.7). It holds what may be sent at once, which grows with time.
type pacer struct {
	bytes float64
	at    int64
}

const (
	// paceAhead is how much faster than a window in a round trip is sent. In slow start the window
	// doubles meanwhile.
	paceAhead = 1.25
	paceStart = 2.0
	// burstBytes and burstTime bound what is sent at once: what the system takes in one call, and timers are
	// no more exact than that. So what fits a short window, such as an answer, is not spread over a round trip.
	burstBytes = 64 << 10
	burstTime  = time.Millisecond
	// mostSpread bounds the time over which a window is spread. A round trip that has seemed to be longer may be so no more, and
	// what is sent so slowly would not show it for as long.
	mostSpread = int64(time.Second)
)

// pace is what to pace by.
type pace struct {
	rate  float64 // bytes a nanosecond; 0: without limit
	burst float64
}

func paceOf(c Controller, smoothed int64) pace {
	if smoothed == 0 {
		return pace{}
	}
	ahead := paceAhead
	if c.SlowStart() {
		ahead = paceStart
	}
	rate := ahead * float64(c.Window()) / float64(min(smoothed, mostSpread))
	return pace{rate: rate, burst: min(max(rate*float64(burstTime), burstBytes), unlimited)} // an int may have 32 bits
}

// room is how many bytes may be sent now.
func (p *pacer) room(now int64, by pace) int {
	if by.rate == 0 { // nor does it count later, when what is sent then may be slow
		p.bytes, p.at = burstBytes, now
		return unlimited
	}
	p.bytes = min(p.bytes+by.rate*float64(now-p.at), by.burst)
	p.at = now
	return int(p.bytes)
}

func (p *pacer) sent(bytes int) { p.bytes -= float64(bytes) }

// free is when so many bytes may be sent.
func (p *pacer) free(bytes int, by pace) int64 {
	if by.rate == 0 || p.bytes >= float64(bytes) {
		return p.at
	}
	return p.at + int64((float64(bytes)-p.bytes)/by.rate) + 1
}
