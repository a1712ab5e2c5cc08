package recovery

// Reno is the congestion control of RFC 9260, section 7.2, counted in bytes.
type Reno struct {
	packet    int
	window    int
	threshold int // slow start below it
	arrived   int // bytes since the window last grew in congestion avoidance
	start     slowStart
	before    struct{ window, threshold int } // for Undo
}

// NewReno returns a controller for packets of so many bytes.
func NewReno(packet int) *Reno {
	return &Reno{packet: packet, window: initialWindow(packet), threshold: unlimited}
}

// Window implements [Controller].
func (c *Reno) Window() int { return c.window }

// SlowStart implements [Controller].
func (c *Reno) SlowStart() bool { return c.window < c.threshold }

// Arrived implements [Controller].
func (c *Reno) Arrived(a Sample) {
	if c.SlowStart() {
		grow, over := c.start.grow(a)
		c.window += grow
		if over {
			c.threshold = c.window
		}
		return
	}
	if !a.Limit {
		return
	}
	if c.arrived += a.Bytes; c.arrived >= c.window {
		c.arrived -= c.window
		c.window += c.packet
	}
}

// Congested implements [Controller].
func (c *Reno) Congested(int64) {
	c.before.window, c.before.threshold = c.window, c.threshold
	c.threshold = max(c.window/2, 4*c.packet)
	c.window, c.arrived = c.threshold, 0
}

// Gradual implements [Controller]: nothing may be sent that the window has no room for (RFC 9260, section 6.1).
func (c *Reno) Gradual() bool { return false }

// Collapsed implements [Controller].
func (c *Reno) Collapsed(int64) {
	c.threshold = max(c.window/2, 4*c.packet)
	c.window, c.arrived, c.start = leastPackets*c.packet, 0, slowStart{}
}

// Undo implements [Controller].
func (c *Reno) Undo() {
	c.window, c.threshold = max(c.window, c.before.window), c.before.threshold
}

// Idle implements [Controller]: what is not sent does not count here.
func (c *Reno) Idle(int64) {}

// Resized implements [Controller].
func (c *Reno) Resized(packet int) {
	c.packet, c.window = packet, max(c.window, leastPackets*packet)
	if c.threshold == unlimited {
		c.window = max(c.window, initialWindow(packet))
	}
}
