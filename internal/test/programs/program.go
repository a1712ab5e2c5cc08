package programs

import (
	"fmt"

	"github.com/strandmp/strand/internal/test/calls"
)

// A program is what the ranks of a world do: steps in one order, of which each
// rank takes those that concern it.
type program struct {
	seed     uint64
	ranks    int
	comms    []*group
	steps    []*step
	messages []*message
	phases   int
	polling  int // a bit for each rank that polls instead of waiting
}

// A group is a communicator of the program, as its ranks are concerned.
type group struct {
	id      int
	members []int // ranks of the world in the order of the communicator's
	relaxed bool  // its ordering
	grid    grid
	sends   map[[2]int]int
	tagged  map[[3]int]int
}

// A grid is that of the ranks of a communicator. One without dimensions is none.
type grid struct {
	dims     []int
	periodic []bool
}

// rank returns the communicator's rank of a rank of the world, or −1.
func (g *group) rank(world int) int {
	for i, w := range g.members {
		if w == world {
			return i
		}
	}
	return -1
}

// kind is what a step does.
type kind uint8

const (
	stepSend     kind = iota // start to send
	stepRecv                 // start to receive
	stepProbe                // probe without waiting, perhaps receive what was seen
	stepTake                 // matched probe without waiting
	stepFinish               // receive what a matched probe has taken
	stepCancel               // take a receive back
	stepTest                 // test some requests
	stepYield                // let others run
	stepPause                // do nothing for a while
	stepBrief                // receive or probe with a context that ends
	stepFlood                // buffered sends to a rank that receives nothing until they are over
	stepTransfer             // send and wait; the receiver receives until it has the message
	stepExchange             // all members of a communicator pass a message on, in the memory in which another one comes in
	stepBarrier              // all members of the communicator
	stepCollect              // another collective call of theirs
	stepGather               // wait for collective calls that go on by themselves
	stepRevoke               // collective calls of which one member makes but some, since it ends them everywhere
	stepAgree                // all members of the communicator
	stepDup
	stepSplit
	stepGrid
	stepFree
	stepDrain // the end of a phase: everybody receives everything
)

var kindNames = [...]string{"send", "receive", "probe", "matched probe", "finish", "cancel", "test", "yield", "pause", "brief receive", "flood",
	"transfer", "exchange", "barrier", "collective call", "wait for collective calls", "calls that one member revokes", "agreement", "dup", "split", "grid", "free", "drain"}

func (k kind) String() string { return kindNames[k] }

// A step is one of a program.
type step struct {
	kind kind
	rank int    // whose step it is, if it is one rank's
	comm int    // which communicator
	bits uint64 // randomness for what is decided when it runs

	message *message // send, transfer
	mode    mode
	form    form       // how the memory lies that is sent from, or received into
	series  int        // send, receive: of the persistent operation that does it; 0: none
	letters []*message // exchange: those that are passed on, by sender; some have none
	flood   []*message
	call    calls.Call // collect
	fits    int        // how many of the flood may be accepted
	pattern pattern
	room    int   // bytes that a receive has room for
	relaxed bool  // dup: the ordering asked for
	made    []int // dup, split: the communicator of each rank of the world, or −1
	colors  []int // split: by rank of the world
	keys    []int
	grid    grid // how long it is and how its ends meet
}

// mode is how a message is sent.
type mode uint8

const (
	modeStandard mode = iota
	modeSynchronous
	modeBuffered
	modeReady
)

var modeNames = [...]string{"standard", "synchronous", "buffered", "ready"}

func (s *step) String() string {
	switch s.kind {
	case stepSend, stepTransfer:
		return fmt.Sprintf("%v, %s: %v", s.kind, modeNames[s.mode], s.message)
	case stepRecv, stepProbe, stepTake, stepBrief:
		return fmt.Sprintf("rank %d, comm %d: %v for %v, room for %d", s.rank, s.comm, s.kind, s.pattern, s.room)
	case stepFlood:
		return fmt.Sprintf("rank %d, comm %d: flood of %d messages, of which %d fit into the memory allowed: %v and so on", s.rank, s.comm, len(s.flood), s.fits, s.flood[0])
	case stepCollect:
		return fmt.Sprintf("comm %d: %v", s.comm, s.call)
	case stepExchange:
		return fmt.Sprintf("comm %d: %v: %v", s.comm, s.kind, s.letters)
	case stepGrid:
		return fmt.Sprintf("comm %d: %v: %v", s.comm, s.kind, s.grid)
	case stepRevoke:
		return fmt.Sprintf("comm %d: %v: rank %d", s.comm, s.kind, s.rank)
	case stepFinish, stepGather, stepCancel, stepTest, stepYield, stepPause:
		return fmt.Sprintf("rank %d: %v", s.rank, s.kind)
	}
	return fmt.Sprintf("comm %d: %v", s.comm, s.kind)
}
