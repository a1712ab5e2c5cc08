package recovery

// A Controller says how much may be under way over a path. Its calls come in the order of time.
type Controller interface {
	// Window is how many bytes may be under way.
	Window() int
	// SlowStart reports whether the window still doubles with each round trip.
	SlowStart() bool
	// Arrived notes that packets have arrived.
	Arrived(Sample)
	// Congested notes that the network has dropped or marked a packet that was sent after the
	// window was last reduced.
	Congested(now int64)
	// Gradual reports whether what is under way beyond a window that was reduced is taken back over a round trip.
	Gradual() bool
	// Collapsed notes that for some time nothing has come through at all (RFC 9002, section 7.6).
	Collapsed(now int64)
	// Undo takes the last Congested back: nothing had been lost.
	Undo()
	// Idle notes that nothing was under way for so long, and that it was not the window's fault.
	Idle(span int64)
	// Resized notes that packets now are of another size. What may be under way before anything was lost goes by it.
	Resized(packet int)
}

// A Sample is what an acknowledgement has told.
type Sample struct {
	Now   int64
	Bytes int  // that have arrived
	Limit bool // the window was in use, by half at least, when the latest of them was sent
	RTT   int64
	// Last is the number of the latest packet that has arrived, and Next the number of the next to
	// be sent. They tell one round trip from the next.
	Last, Next uint64
	// Latest is the round trip of this acknowledgement; 0: it gave none.
	Latest int64
}

const (
	// initialPackets and initialBytes are the window before anything is known (RFC 9002,
	// section 7.2).
	initialPackets = 10
	initialBytes   = 14720
	// leastPackets is what may be under way in any case.
	leastPackets = 2
	// unlimited is a slow start threshold that is not known yet.
	unlimited = 1 << 30
)

func initialWindow(packet int) int {
	return min(initialPackets*packet, max(initialBytes, leastPackets*packet))
}
