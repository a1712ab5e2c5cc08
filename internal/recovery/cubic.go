package recovery

import "math"

// Cubic is the congestion control of RFC 9438, counted in bytes.
type Cubic struct {
	packet float64
	start  slowStart
	cubicState
	before cubicState // for Undo
}

// cubicState is what congestion changes. The RFC's names are in brackets.
type cubicState struct {
	window    float64 // [cwnd]
	threshold float64 // [ssthresh]
	last      float64 // the window at the last reduction, or less where flows are to make room [W_max]
	prior     float64 // the window before the last reduction [cwnd_prior]
	began     int64   // when this epoch of congestion avoidance did; 0: not yet [epoch_start]
	plateau   float64 // seconds from then until the window is what it was [K]
	estimate  float64 // what Reno would have by now [W_est]
}

const (
	cubicScale = 0.4 // packets a second cubed [C]
	cubicShare = 0.7 // what a reduction leaves [β]
	// cubicFriend is the packets that Reno's estimate grows by in a round trip [α].
	cubicFriend = 3 * (1 - cubicShare) / (1 + cubicShare)
	// mostGrowth bounds by what factor the window grows in a round trip.
	mostGrowth = 1.5
)

// NewCubic returns a controller for packets of so many bytes.
func NewCubic(packet int) *Cubic {
	c := &Cubic{packet: float64(packet)}
	c.window, c.threshold = float64(initialWindow(packet)), unlimited
	return c
}

// Window implements [Controller].
func (c *Cubic) Window() int { return int(c.window) }

// SlowStart implements [Controller].
func (c *Cubic) SlowStart() bool { return c.window < c.threshold }

// Arrived implements [Controller].
func (c *Cubic) Arrived(a Sample) {
	switch {
	case c.SlowStart():
		grow, over := c.start.grow(a)
		c.window += float64(grow)
		if over {
			c.threshold = c.window
		}
	case a.Limit:
		c.avoid(a)
	}
}

// avoid has the window grow in congestion avoidance (RFC 9438, sections 4.2 to 4.5).
func (c *Cubic) avoid(a Sample) {
	if c.began == 0 {
		c.begin(a.Now)
	}
	arrived := float64(a.Bytes)
	friend := 1.0
	if c.estimate < c.prior {
		friend = cubicFriend
	}
	c.estimate += friend * arrived / c.window * c.packet
	since := float64(a.Now-c.began) / 1e9
	if c.at(since) < c.estimate {
		c.window = max(c.window, c.estimate)
		return
	}
	target := min(max(c.at(since+float64(a.RTT)/1e9), c.window), mostGrowth*c.window)
	c.window += (target - c.window) * arrived / c.window
}

// begin begins an epoch of congestion avoidance.
func (c *Cubic) begin(now int64) {
	c.began, c.estimate = max(now, 1), c.window
	if c.last < c.window {
		c.last = c.window
	}
	c.plateau = math.Cbrt((c.last - c.window) / c.packet / cubicScale)
}

// at is the cubic function: the window so many seconds after the epoch began.
func (c *Cubic) at(seconds float64) float64 {
	x := seconds - c.plateau
	return c.last + cubicScale*x*x*x*c.packet
}

// Congested implements [Controller].
func (c *Cubic) Congested(int64) {
	c.before = c.cubicState
	c.prior, c.began = c.window, 0
	if c.window < c.last {
		c.last = c.window * (1 + cubicShare) / 2 // fast convergence, section 4.7
	} else {
		c.last = c.window
	}
	c.threshold = max(c.window*cubicShare, leastPackets*c.packet)
	c.window = c.threshold
}

// Gradual implements [Controller], as the kernel's CUBIC does.
func (c *Cubic) Gradual() bool { return true }

// Collapsed implements [Controller].
func (c *Cubic) Collapsed(int64) {
	c.last, c.prior, c.began = c.window, c.window, 0
	c.threshold = max(c.window*cubicShare, leastPackets*c.packet)
	c.window, c.start = leastPackets*c.packet, slowStart{}
}

// Undo implements [Controller].
func (c *Cubic) Undo() {
	window := max(c.window, c.before.window)
	c.cubicState = c.before
	c.window = window
}

// Idle keeps the window from growing by the time in which nothing was sent (section 5.8).
func (c *Cubic) Idle(span int64) {
	if c.began != 0 {
		c.began += span
	}
}

// Resized implements [Controller].
func (c *Cubic) Resized(packet int) {
	c.packet, c.window = float64(packet), max(c.window, leastPackets*float64(packet))
	if c.threshold == unlimited {
		c.window = max(c.window, float64(initialWindow(packet)))
	}
}
