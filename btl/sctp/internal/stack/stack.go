package stack

import (
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
)

// A Stack is SCTP in this process, with its sockets open and listening.
type Stack interface {
	// Local are the addresses that it listens on: those of Config.Local that it can use.
	Local() []netip.Addr
	// Port is the port that peers reach all the local addresses at: of SCTP, or of
	// UDP if that is what carries it.
	Port() uint16
	// Associate begins an association with a peer and tells h about it: Up or Down
	// follows later. The error is syscall.EISCONN if the stack can have only one
	// association with a peer, and has one.
	Associate(r Route, h Handler) (Association, error)
	// Progress does what no watch and no timer of the loop announces, and reports
	// whether it did anything. It is cheap when there is nothing to do.
	Progress() bool
	// Linger serves associations that are ending, while the loop can not: it waits at
	// most about a millisecond for something to arrive, and handles it.
	Linger()
	// MaxMessage is how long messages should be at most: Config.MaxMessage, or less
	// if the buffers that the system gives are too small for that.
	MaxMessage() int
	// Farewell is how long closing is to wait for what peers have not acknowledged. It is 0 if
	// the system sends that again after Association.Release. If nobody does, it is the time in
	// which it can be sent again some times.
	Farewell() time.Duration
	// Close ends all associations without a call, closes the sockets and leaves no
	// goroutine, watch or timer behind.
	Close() error
}

// A Route is how to reach a peer: pairs of addresses, the best first. A multihomed
// stack uses all of the remote addresses, from whichever of its own. Any other uses
// the first pair that is answered.
type Route struct {
	Pairs []Pair
}

// A Pair is one of our addresses and one of the peer's, with its port.
type Pair struct {
	Local  netip.Addr
	Remote netip.AddrPort
	// Encap is the UDP port that carries SCTP to a peer whose stack is in user space,
	// for a stack that is not; 0: none, or Config.EncapPort.
	Encap uint16
	// Nearby says that both are on this machine.
	Nearby bool
}

// An Association is a peer's and our end of one SCTP association.
type Association interface {
	// Send gives the stack one message: head, which is not empty, followed by the
	// payload of f, which may be nil. The result is
	//
	//	Done    taken and copied,
	//	Taken   taken, and f is the stack's until Handler.Released, or Keep, or the end,
	//	Busy    not taken: the peer has as much outstanding as it may have;
	//	        Handler.Writable follows once there is room,
	//	Broken  not taken, nor will any other be; Handler.Down follows.
	//
	// A message longer than Config.MaxMessage is Broken. Send makes no call of the
	// handler.
	Send(stream uint16, ppid uint32, head []byte, f *btl.Frame) btl.Result
	// Keep has the stack let go of all frames that were Taken: it copies what it still needs of them.
	// Handler.Released follows for none of them.
	Keep()
	// Poll looks whether something has arrived for this association, and calls the
	// handler with it. It reports whether there was anything, of any association.
	Poll() bool
	// Watch is that of the descriptor that Poll reads each time, nil if there is none.
	Watch() btl.Watch
	// Streams is the number of streams that both directions have, from 0; it does
	// not change after Handler.Up.
	Streams() int
	// Window is how many bytes the peer's SCTP takes at first while its process reads
	// nothing. Half-arrived messages must leave room in it for the rest of each. It does
	// not change.
	Window() int
	// Queued is the number of bytes taken and not known to be acknowledged by the
	// peer; 0 means that the peer's SCTP has all.
	Queued() int
	// Unsent is the number of bytes of it that were not given to the system yet.
	Unsent() int
	// Flush sends at once what Send has held back.
	Flush()
	// Remote is the peer's address, of the primary path.
	Remote() netip.AddrPort
	// Addresses are our and the peer's, for people: the primary path's.
	Addresses() (local, remote string)
	// Paths are the network paths of the association.
	Paths() []btl.PathState
	// Calls are the packets, or system calls, of both directions so far.
	Calls() (sent, received uint64)
	// Congestion is how the association's congestion control stands, that of its
	// primary path where there are several; false if that is not known.
	Congestion() (btl.Congestion, bool)
	// Trust says that the peer has proved who it is. Until then a stack bounds what
	// it keeps for it, as far as it can, to a few KB.
	Trust()
	// Abort ends the association at once and tells the peer so. What is not
	// acknowledged is lost. The handler is not called any more. Aborting twice, or
	// after Handler.Down, does nothing.
	Abort()
	// Release gives the association up before the stack is closed. If the system can do so
	// by itself, it sends what was taken and then ends the association in order, also after
	// Close. If it can not, this is Abort. The handler is not called any more.
	Release()
	// Sever loses every packet from now on, in both directions, as if somebody had
	// pulled the plug. For tests.
	Sever()
}

// A Handler is told what happens to one association.
type Handler interface {
	// Up: the association is established. Comes once, before all else.
	Up()
	// Receive hands over a piece of a message, valid during the call. End says that
	// it is the last of its message; ppid is valid in the first piece and may be 0
	// in others. (It is big-endian on the wire, like all of SCTP.)
	Receive(stream uint16, ppid uint32, piece []byte, end bool)
	// Released: a frame that was Taken is needed no more.
	Released(f *btl.Frame)
	// Writable: after Busy, Send can take a message again.
	Writable()
	// PathChanged: a path came up or went down, as Association.Paths has it.
	PathChanged(p btl.PathState)
	// Down: the association has ended for good. [io.EOF] means that the peer has shut
	// it down in order; all that it had sent was handed over before. Any other error
	// says what went wrong (syscall.ETIMEDOUT: no answer; syscall.ECONNREFUSED: nobody
	// there; syscall.ECONNRESET: the peer has aborted it). It is the last call.
	Down(err error)
}
