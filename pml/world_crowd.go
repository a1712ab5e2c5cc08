package pml

import "time"

// A Crowd is the ranks of a host and its processors, where the ranks are more. The zero value stands
// for all other hosts.
type Crowd struct{ Ranks, Processors int }

const (
	// idleShare is how many ranks may share a processor before anything is given more time.
	idleShare = 8
	// mostSlow bounds how much more.
	mostSlow = 20
	// hostContacts is how many contacts all ranks of a host may be making at a time. A contact takes
	// 1.5 ms of a processor, on both sides together. So a host of two makes these in 0.2 s, and nobody
	// waits for one of them for so long that another connection is tried beside it.
	hostContacts = 256
	// leastContacts is how many each rank may make whatever the others do.
	leastContacts = 2
)

// slow is how many times longer than elsewhere things may take.
func (c Crowd) slow() int {
	if c.Processors < 1 {
		return 1
	}
	return min(max(c.Ranks/(idleShare*c.Processors), 1), mostSlow)
}

// throngShare is how many ranks share a processor where each rests most of the time. From there on all take less time by
// a throng's way to wait, and less of the processor; with 64 a barrier took three times as long.
const throngShare = 100

// Throng reports whether there are so many.
func (c Crowd) Throng() bool { return c.Processors > 0 && c.Ranks >= throngShare*c.Processors }

const (
	// shareTurn is what a rank takes of the processor in its turn, where all ranks talk, with messages of 64 KB too: it may copy what all
	// others have sent it.
	shareTurn = 250 * time.Microsecond
	// mostTurn is less than what the system gives to who computes.
	mostTurn = 2 * time.Millisecond
)

// Turn is how long a rank may have to wait for the processor where all ranks talk.
func (c Crowd) Turn() time.Duration {
	if c.Processors < 1 {
		return 0
	}
	return min(shareTurn*time.Duration(c.Ranks)/time.Duration(c.Processors), mostTurn)
}

// contacts is how many contacts a rank may be making at a time; 0: any number.
func (c Crowd) contacts() int {
	if c.Ranks < 1 {
		return 0
	}
	return max(hostContacts/c.Ranks, leastContacts)
}

// slowly is a time by which the others should have done something, which the user has not set.
func (c Crowd) slowly(d time.Duration) time.Duration { return d * time.Duration(c.slow()) }
