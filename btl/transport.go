package btl

import (
	"fmt"
	"math"
	"time"

	"github.com/strandmp/strand/param"
)

// A Component is a kind of transport. It is stateless: one value serves every
// world of a process.
type Component interface {
	// Name is a lower-case word: "tcp". It is what users write in btl=tcp,self
	// and the middle part of the component's parameters: btl_tcp_….
	Name() string
	// Declare adds the component's parameters to a registry. Btl_NAME_exclusivity, _bandwidth and
	// _latency are there for every transport and are not to be declared.
	Declare(*param.Registry)
	// Open makes the component's modules. A component that can not serve in
	// this process returns no module and the reason, as an [*UnavailableError];
	// any other error is a mistake of the user's (a parameter, say) and ends
	// the start-up.
	Open(Host) ([]Module, error)
}

// A Requested component is used only if the parameter btl names it: one that is there for
// comparison, for example, and would cost every program a socket. Optional.
type Requested interface {
	Requested()
}

// An UnavailableError says why a component can not serve here.
type UnavailableError struct {
	Component string
	Reason    string // what was found: "no kernel SCTP: protocol not supported"
	Remedy    string // what to do about it; may be empty
}

func (e *UnavailableError) Error() string {
	s := fmt.Sprintf("btl %s is not available: %s", e.Component, e.Reason)
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Attr describes a module. It does not change while the module is open.
type Attr struct {
	// Name of the module, for people: "tcp", "sctp/kernel".
	Name string
	// EagerLimit is the payload, in bytes, up to which a message is best sent at
	// once. Over a module that is reliable and ordered the PML sends longer ones at
	// once as well, while the receiver has room for them.
	EagerLimit int
	// EagerFixed says that the user has set EagerLimit. The PML then sends no longer message at
	// once.
	EagerFixed bool
	// MaxFrame is the largest payload of one frame in bytes, at least 1024. The PML sends no
	// larger one. A transport that is given one ends the connection or carries it whole.
	MaxFrame int
	// BestFrame is the payload of the pieces that a long message is best cut
	// into when this module carries it alone; 0 means MaxFrame.
	BestFrame int
	// Bandwidth, in Mbit/s, and Latency are those of a typical path.
	Bandwidth int
	Latency   time.Duration
	// Exclusivity: of the modules that reach a peer only those with the highest
	// number serve it.
	Exclusivity int
	// Lanes is the number of lanes that do not hold each other up; lane l of
	// Send travels in lane l mod Lanes, but for [ControlLane], which may have one of
	// its own. At least 1.
	Lanes int
	// Ordered promises that the frames of one lane of one endpoint are
	// delivered in the order of Send.
	Ordered bool
	// Reliable promises that a frame taken by an endpoint is delivered unless
	// the endpoint goes down. No module may deliver a frame twice or damaged.
	Reliable bool
	// Confirms promises that a frame is released only after the peer's Receiver has had it
	// whole, and that the release comes before Down if it has had it. The PML then leaves a
	// message that is longer than EagerLimit where it is until its receive is there.
	Confirms bool
	// Unbreakable promises that the path can not break while both ends live (self). Nothing
	// stands by for it. Where it confirms too the PML needs no acknowledgement of its own.
	Unbreakable bool
	// Secrecy says who else can read what the module carries, or change it. It may depend on
	// the user's settings.
	Secrecy Secrecy
}

// Peer identifies the other side of an endpoint.
type Peer struct {
	Rank int
	// Host is the peer's host name, for messages to people.
	Host string
	// Address is what the peer's module of the same component published.
	Address []byte
}

// A Path is one way to a peer that a module offers.
type Path struct {
	// Bandwidth, in Mbit/s, and Latency are the path's, or else the module's.
	Bandwidth int
	Latency   time.Duration
	// Weight says how good the path is relative to the others to this peer.
	Weight float64
	// Index numbers the paths of one module to one peer from 0.
	Index int
	// Bundle numbers, from 1, the sets of parallel paths between the same two
	// interfaces; the lanes are spread over them. It is 0 for a path that is alone.
	Bundle int
	// Spare paths serve only while no other path of the module is connected.
	Spare Spare
	// Desc is for people: "10.0.0.1 (eth0) → 10.0.0.2:59822, direct route".
	Desc string
	// Private is the module's own.
	Private any
}

// Spare says whether a path stands by for the others of its module. A module that
// offers any spare path offers others too.
type Spare uint8

const (
	NotSpare Spare = iota
	// Detour joins two interfaces that none of the other paths joins. It is worth a try when one
	// of the others falls silent.
	Detour
	// Parallel joins the same two interfaces as one of the others, at other addresses. It is
	// worth a try only if that path was never connected, or is broken.
	Parallel
)

// A Module is an open transport.
type Module interface {
	Attr() Attr
	// Address is the blob that peers need in order to reach this module; nil
	// if they need none. At most 4096 bytes.
	Address() []byte
	// Reach lists the paths to a peer, best first, or says why there is none.
	Reach(Peer) ([]Path, error)
	// Connect makes an endpoint for one of the paths that Reach returned. It
	// connects on the first Send, not before. The receiver takes its up-calls.
	Connect(Peer, Path, Receiver) (Endpoint, error)
	// Progress does the work for which no descriptor gets ready, and reports whether
	// there was any. It is called often and must be cheap when there is none.
	Progress() bool
	// Close ends the module: every endpoint is closed, every frame it still
	// holds is released without a call, no up-call is made any more, and
	// nothing it has started is left behind.
	Close() error
}

// A Dozer is a module to which peers write without a descriptor getting ready, as they do in
// shared memory. Optional. A loop that polls finds what has come by [Module.Progress]; one that
// is about to block on its descriptors says so, and takes it back when it polls again.
type Dozer interface {
	// Doze has the module see to it that from now on a descriptor gets ready when something
	// arrives. It reports false if there is something to do already: then the loop does not
	// block, and Wake need not follow.
	Doze() bool
	// Wake takes that back.
	Wake()
}

// ControlLane is the lane of the message layer's own frames, such as
// acknowledgements, which must not wait for a message. A transport that can keeps it
// apart from all others; to one that knows nothing of it it is a lane like any.
const ControlLane = math.MaxInt32

// An Endpoint is one peer over one path. It connects when first sent to.
type Endpoint interface {
	// Send gives the frame to the transport, in the given lane. It never blocks
	// and makes no up-call. After Busy or Broken the frame is still the caller's.
	//
	// Frames of at most 4 KB (header included) that follow another since the
	// last poll may be held back and sent together; they go out with the next
	// poll, or earlier. A lone frame goes at once.
	Send(f *Frame, lane int) Result
	// Close ends the endpoint. What was taken is sent if that is possible
	// without blocking for long; frames still held are released without a call.
	// No up-call is made any more.
	Close() error
	// Desc describes the connection for people: both addresses, interface.
	Desc() string
}

// A Poller is an endpoint that can look for itself whether something arrived.
// A thread that waits for this very peer calls it in a loop. Optional.
type Poller interface {
	// Poll reads what is there without waiting and reports whether anything was.
	Poll() bool
}

// A Watched is a [Poller] with a descriptor of its own. While a thread polls such an
// endpoint again and again the loop may leave the descriptor out of what it looks at,
// which makes arrivals cheaper. Optional.
type Watched interface {
	Poller
	// Watch returns the watch of the descriptor, nil if there is none now. Poll must do
	// all that the watch's handler would.
	Watch() Watch
}

// A Gauge is an endpoint that reports how many bytes are in flight. Optional; the PML
// asks it before each piece of a long message that several paths share.
type Gauge interface {
	// Outstanding returns the bytes that were taken and that the peer's system has
	// not confirmed, -1 if that can not be known.
	Outstanding() int
}

// A Flusher is an endpoint whose send queue can be measured and emptied. Optional.
type Flusher interface {
	// Flush sends at once what Send has held back.
	Flush()
	// Queued returns the bytes that were taken and not yet given to the system.
	Queued() int
}

// A Pather is an endpoint that describes its path. The host asks an endpoint that the peer has
// opened, if its path is none that [Module.Reach] has returned. Without a Pather, such a
// path counts as a typical one of the module. Optional.
type Pather interface {
	// Path describes the way as Reach would, under the number that Accept was told.
	// It is asked within Accept already.
	Path() Path
}

// An Aborter is an endpoint that can end without sending the frames that it holds. The host
// calls it for an endpoint that has fallen silent, and sends those frames over another. Optional;
// without it the host calls Close.
type Aborter interface {
	// Abort is Close, but at once and for both sides.
	Abort()
}

// A Recaller is an endpoint that can give back the memory of the frames that it holds, without
// waiting for the network. The host calls it when it has no use for the frames any more and the
// program wants its buffers. Optional; without it the host closes the endpoint.
type Recaller interface {
	// Recall has the endpoint let go of every frame, with no call of Released. What was
	// not begun is not sent. Of a frame that was begun, of which there is at most one, the
	// rest is copied and sent, so that the connection goes on with what follows; the
	// result is the length of that copy.
	Recall() int
}

// A Receiver takes the up-calls of one endpoint. The PML implements it.
type Receiver interface {
	// Up: the endpoint is connected and the peer has proved who it is. Hello is
	// what the peer's [Host.Hello] returned; it is valid during the call. A
	// transport that was connected from the start calls it before anything else.
	Up(hello []byte)
	// Writable: an endpoint that returned Busy can take a frame again.
	Writable()
	// Released: the transport needs the frame's memory no more. If the module
	// Confirms it also means that the peer has had the frame.
	Released(*Frame)
	// Deliver hands over a whole frame. Header and payload are valid during the
	// call. An error means that the frame is malformed: the transport ends the
	// connection as for any other damage.
	Deliver(header, payload []byte) error
	// Begin is the first of two steps for a frame whose payload is not there
	// yet: it says where size bytes of payload are to go. The header is valid
	// during the call. Exactly one End or Drop follows. An error as for Deliver.
	Begin(header []byte, size int) (*Landing, error)
	// End: the payload has arrived whole.
	End(*Landing) error
	// Drop: the frame broke off, for example with its connection.
	Drop(*Landing)
	// Down: the endpoint is broken. Frames taken and not delivered may or may
	// not arrive at the peer; the transport has released all of them and calls
	// Released for none. It is the last up-call of this endpoint, but for Up if
	// the transport reconnects at the next Send. [ErrPeerClosed] means that the
	// peer ended the connection in order.
	Down(error)
}

// A Host is what a module sees of the process it runs in.
type Host interface {
	// Rank and Size in the world of this process, Hostname for messages.
	Rank() int
	Size() int
	Hostname() string
	// Job names the job.
	Job() string
	// Secret is known to the processes of the job alone. It is nil until all modules
	// are open, since the job agrees on it only then; from then on it does not change.
	Secret() []byte
	// PairKey has found called with a key that this process and that rank share and that
	// nobody else has, who knows the secret included. It is made of what each of the two
	// has published at start, and does not change. Found is called by the loop: before
	// PairKey returns where the key is known, and else when the launcher has answered. It
	// is to be asked only for a rank that has shown, or to which is shown, that it belongs to
	// the job.
	PairKey(rank int, found func(key []byte, err error))
	// Params holds the values of the parameters that the component declared.
	Params() *param.Values
	// Loop is the progress engine.
	Loop() Loop
	// Hello is what every peer is told when a connection comes up, at most 4096
	// bytes. It has the addresses of all modules, so it is nil until they are open,
	// and does not change from then on.
	Hello() []byte
	// Accept makes known an endpoint that the peer has opened, after it has
	// proved to be that rank, and returns the receiver for its up-calls. An
	// error (a rank that is gone, a world that closes) is for the peer to know.
	// Hello is the peer's. Up must be called for the endpoint as for any other.
	Accept(m Module, rank int, hello []byte, path int, ep Endpoint) (Receiver, error)
	// Logf writes a line for people, at the given level. It begins with the
	// component's name and "rank 3: ", so that what all ranks say can be told once.
	Logf(level LogLevel, format string, args ...any)
}

// LogLevel says who would like to read a line.
type LogLevel uint8

const (
	LogWarn  LogLevel = iota // always shown: something is wrong, the job goes on
	LogInfo                  // verbose=1: connections, choices
	LogDebug                 // verbose=2: each step
)
