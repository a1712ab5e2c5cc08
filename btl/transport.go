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
	// Declare adds the component's parameters to a registry. Every transport has btl_NAME_exclusivity,
	// btl_NAME_bandwidth and btl_NAME_latency; a component must not declare these itself.
	Declare(*param.Registry)
	// Open makes the component's modules. A component that can not serve in
	// this process returns no module and the reason, as an [*UnavailableError];
	// any other error is a mistake of the user's (a parameter, say) and ends
	// the start-up.
	Open(Host) ([]Module, error)
}

// A Requested component is used only if the parameter btl names it, or is empty and so means all. A list of
// what not to use (^tcp) does not name it. So a transport that is there for comparison, for example, costs no
// other program a socket. Optional.
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
	// once. If the module is reliable and ordered, the PML sends longer messages at
	// once as well, while the receiver has room for them. One that is longer than MaxFrame asks first.
	EagerLimit int
	// EagerFixed says that the user has set EagerLimit. The PML then sends nothing longer at once.
	EagerFixed bool
	// MaxFrame is the largest payload of one frame in bytes, at least 1024. The PML sends no
	// larger frame. A transport that gets one all the same ends the connection or carries it whole.
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
	// Send travels in lane l mod Lanes, but for [ControlLane] and [UrgentLane], which may have
	// one of their own. At least 1.
	Lanes int
	// Ordered promises that the frames of one lane of one endpoint are
	// delivered in the order of Send.
	Ordered bool
	// Reliable promises that a frame taken by an endpoint is delivered unless
	// the endpoint goes down. No module may deliver a frame twice or damaged.
	Reliable bool
	// Confirms promises that a frame is released only after the peer's Receiver has had it whole.
	// If the Receiver has had it, the release comes before Down. The PML then leaves a message
	// longer than EagerLimit in the sender's buffer until its receive is posted, unless the path is slow ([Speedometer]).
	Confirms bool
	// Retains says that frames which were [Taken] are held until the peer's system has confirmed them, and not only until ours has
	// copied them. Over a long way many are held then, and have left all the same; a [Flusher] tells what has not. A module that
	// Confirms does so anyway.
	Retains bool
	// Unbreakable promises that the path can not break while both ends live (self). No other
	// path stands by for it. If the module Confirms too, the PML sends no acknowledgements.
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
	// Urgent paths carry the frames of [UrgentLane] alone ([Expediter]).
	Urgent bool
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

// A Dozer is a module whose peers write without making a descriptor ready, as in shared memory.
// A loop that polls finds what has come by [Module.Progress]. Before it blocks on its descriptors
// it calls Doze, and Wake when it polls again. Optional.
type Dozer interface {
	// Doze has the module see to it that from now on a descriptor gets ready when something
	// arrives. It reports false if there is something to do already: then the loop does not
	// block, and Wake need not follow.
	Doze() bool
	// Wake ends what Doze began: descriptors need not get ready any more.
	Wake()
}

// An Expediter is a module that can make a connection for urgent frames beside an ordinary one, so
// that they do not wait in one queue. The host connects it when the first urgent message is sent,
// and sends those frames over the ordinary connection if that fails. An endpoint that the peer
// has opened for urgent frames is a [Pather] and says so. Optional.
type Expediter interface {
	// Express returns the path for urgent frames that is parallel to one of those that Reach
	// returned. There is one for each peer, so its number is always the same. It is false if
	// there is none.
	Express(Path) (Path, bool)
}

// ControlLane is the lane of the message layer's own frames, such as
// acknowledgements, which must not wait for a message. A transport keeps it apart from
// all other lanes if it can. Otherwise it is a lane like any other.
const ControlLane = math.MaxInt32

// UrgentLane is the lane of messages that the program has said to be urgent. A transport
// lets them overtake the messages of all other lanes that it has not sent yet, if it can. Otherwise
// it is a lane like any other.
const UrgentLane = math.MaxInt32 - 1

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

// A Speedometer is an endpoint that knows how fast its path is. Optional; the PML asks it before it sends a
// long message, now and then.
type Speedometer interface {
	// Speed returns the bytes a second that the path carries: what the peer's system has lately confirmed while there was more
	// to send, or what the congestion control lets through in a round trip. It is 0 if that is not known, or if the peer is on
	// this machine.
	Speed() int64
}

// MostKept is the longest payload, in bytes, that a host asks a [Keeper] for.
const MostKept = 8 << 10

// A Keeper is an endpoint whose medium keeps the payload of a frame that was passed on, at least until the peer's
// Receiver has had it. So the host need not copy it to be able to send it again. Optional. If the receiver is a
// [Saver], it is told before what is kept goes away.
type Keeper interface {
	// Kept says where the payload of the frame is kept for which Send has just returned Done. It is not asked for a
	// payload of more than [MostKept] bytes.
	Kept(*Frame) (place uint64)
	// Again copies what is kept at a place to b, which is as long as the payload. It reports false if that is there no
	// more, since the peer has read it. It may be called while the endpoint is connected, and by [Saver.Save].
	Again(place uint64, b []byte) bool
}

// A Saver is a [Receiver] that uses what a [Keeper] keeps.
type Saver interface {
	// Save: what the endpoint keeps goes away when the call returns, since the connection has ended, by whomever. It
	// comes once for a connection, before Down or within the call of Close or Abort that has ended it. It may be left
	// out if the peer has had all that is kept.
	Save()
}

// A Sated is a [Receiver] that knows when the program has, for now, what it waits for. A transport that has more frames may
// leave them for its next poll then: the program may ask for them by that, and a message that nobody has asked for is copied, and has
// a place in a list. Optional, on both sides.
type Sated interface {
	// Sated may be called between two up-calls of a poll. It costs next to nothing.
	Sated() bool
}

// A Flusher is an endpoint whose send queue can be measured and emptied. Optional.
type Flusher interface {
	// Flush sends at once what Send has held back.
	Flush()
	// Queued returns the bytes that were taken and not yet given to the system.
	Queued() int
}

// A Pather is an endpoint that describes its path. The host asks it of an endpoint that the peer
// has opened over a path that [Module.Reach] did not return. If such an endpoint is no Pather,
// its path counts as a typical one of the module. Optional.
type Pather interface {
	// Path describes the way as Reach would, under the number that Accept was told.
	// The host may call it from within Accept.
	Path() Path
}

// An Aborter is an endpoint that can end without sending the frames that it holds. The host
// calls it for an endpoint that has fallen silent, and sends those frames over another. Optional;
// without it the host calls Close.
type Aborter interface {
	// Abort is Close, but at once and for both sides. Nothing leaves any more, no goodbye either: to
	// the peer it is a failure, after which it sends what it holds another way.
	Abort()
}

// A Recaller is an endpoint that can give back the memory of the frames that it holds, without
// waiting for the network. The host calls it when it has no use for the frames any more and the
// program wants its buffers. Optional; without it the host closes the endpoint.
type Recaller interface {
	// Recall has the endpoint let go of every frame, with no call of Released. Frames that
	// were not begun are not sent. At most one frame was begun: its rest is copied and
	// sent, so that the connection can go on with what follows. The result is the length
	// of that copy in bytes.
	Recall() int
}

// A Receiver takes the up-calls of one endpoint. The PML implements it.
type Receiver interface {
	// Up: the endpoint is connected and the peer has proved who it is. Hello is
	// what the peer's [Host.Hello] returned; it is valid during the call. Up comes
	// before any other up-call, also if the transport was connected from the start.
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
	// Down: the endpoint is broken. Of the frames that were taken, those still on their
	// way may or may not arrive at the peer. The transport has let go of all frames and
	// calls Released for none. Down is the last up-call of this endpoint, unless the
	// transport reconnects at the next Send: then Up follows. [ErrPeerClosed] means
	// that the peer ended the connection in order.
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
	// are open, since the job agrees on it only then. From then on it does not change.
	// It is shown to nobody: not in an address, a Desc, an error or a line of log.
	Secret() []byte
	// PairKey calls found with the key that this process and that rank share. Nobody else
	// has it, not even who knows the secret. It follows from what both published at start
	// and does not change. If the key is known, found is called before PairKey returns;
	// otherwise the loop calls it when the launcher has answered. Ask only for a rank that
	// has shown that it belongs to the job, or to which this process shows that it does. It is shown
	// to nobody, as the secret is.
	PairKey(rank int, found func(key []byte, err error))
	// Params holds the values of the parameters that the component declared.
	Params() *param.Values
	// Loop is the progress engine.
	Loop() Loop
	// Hello is what every peer is told when a connection comes up, at most 4096
	// bytes. It has the addresses of all modules, so it is nil until they are open.
	// From then on it does not change.
	Hello() []byte
	// Accept makes known an endpoint that the peer has opened, after the peer has
	// proved to be that rank. It returns the receiver for the endpoint's up-calls;
	// Up must be called as for any other endpoint. Hello is the peer's. An error (a
	// rank that is gone, a world that closes) refuses the peer, and the transport
	// tells it so.
	Accept(m Module, rank int, hello []byte, path int, ep Endpoint) (Receiver, error)
	// Logf writes a line for people, at the given level. The caller has it begin with the
	// component's name and "rank 3: ". So a line that all ranks write can be shown once. Any
	// goroutine may call it.
	Logf(level LogLevel, format string, args ...any)
}

// LogLevel says who would like to read a line.
type LogLevel uint8

const (
	LogWarn  LogLevel = iota // always shown: something is wrong, the job goes on
	LogInfo                  // verbose=1: connections, choices
	LogDebug                 // verbose=2: each step
)
