package btl

// Processors is a set of processors of this host, by number.
type Processors [mostProcessors / 64]uint64

// mostProcessors is how many numbers there are. A processor with a higher one is in no set.
const mostProcessors = 1024

// Add puts a processor into the set.
func (p *Processors) Add(number int) {
	if uint(number) < mostProcessors {
		p[number/64] |= 1 << (number % 64)
	}
}

// Has reports whether the processor is in the set.
func (p *Processors) Has(number int) bool {
	return uint(number) < mostProcessors && p[number/64]>>(number%64)&1 != 0
}

// A Neighbourhood is a module whose peers are on this host and tell each other on which processors they are. Two that share one
// while another is idle find out so, and one of them moves. Optional.
type Neighbourhood interface {
	// Settle tells the peers on which processor this rank is; -1: it rests. Waits says that it waits there for long, and lets others have
	// the processor.
	Settle(processor int, waits bool)
	// Neighbours adds the processors on which peers are, or have lately been, and those on which peers wait. Unsure reports whether
	// one of them is awake and has not said where it is.
	Neighbours(on, waiting *Processors) (unsure bool)
}

// A Meeter is a [Loop] that knows where its rank is. Optional; a [Neighbourhood] looks for it when it is opened.
type Meeter interface {
	// Meet is called where something goes to a peer that sleeps, or waits for long on a processor; -1: it has not said on which. The loop
	// tells the peers where this rank is, now and then. And if that is the peer's processor the peer has it as soon as the lock is released: it would
	// come to what was sent when the system ends this rank's turn, which takes milliseconds if the rank computes.
	Meet(processor int)
}

// A Neighbour is a [Poller] whose peer may be on this host, and that can tell where it has seen it. Optional. It is asked before a
// thread that waits for this peer moves to another processor, so as not to move there.
type Neighbour interface {
	// LastOn returns the processor on which the peer last sent something, if that is known.
	LastOn() (processor int, known bool)
}
