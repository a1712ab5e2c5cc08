package recovery

// excess is what is under way beyond a window that has just been reduced. It is taken back over one round trip, in
// proportion to what arrives: proportional rate reduction, RFC 6937. Who sent nothing until it is
// gone would send what follows in a part of each round trip. The queue of a bottleneck is longest at the end of that part, so
// that this sender would have more than its share of what is lost there.
type excess struct {
	underWay, window int // bytes, as the window was reduced, and to what
	left             int // of those under way then
}

func newExcess(underWay, window int) excess {
	if underWay <= window {
		return excess{}
	}
	return excess{underWay: underWay, window: window, left: underWay}
}

// bytes is how much more than the window may be under way for now.
func (e *excess) bytes() int {
	if e.left == 0 {
		return 0
	}
	return int(int64(e.underWay-e.window) * int64(e.left) / int64(e.underWay))
}

func (e *excess) arrived(bytes int) { e.left = max(e.left-bytes, 0) }
