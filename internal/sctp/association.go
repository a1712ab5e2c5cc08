package sctp

import (
	"io"
	"net/netip"
	"time"

	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
	"github.com/strandmp/strand/internal/sctp/transfer"
)

// A State is an association's (RFC 9260, section 4).
type State uint8

// The states.
const (
	Closed State = iota
	CookieWait
	CookieEchoed
	Established
	ShutdownPending
	ShutdownSent
	ShutdownReceived
	ShutdownAckSent
)

var stateNames = [...]string{"CLOSED", "COOKIE-WAIT", "COOKIE-ECHOED", "ESTABLISHED",
	"SHUTDOWN-PENDING", "SHUTDOWN-SENT", "SHUTDOWN-RECEIVED", "SHUTDOWN-ACK-SENT"}

func (s State) String() string { return stateNames[s] }

// An Association is our end of one.
type Association struct {
	e     *Endpoint
	owner Owner
	state State
	port  uint16 // of the peer's SCTP

	tag, peerTag   uint32
	tie            uint64 // names this association in cookies
	tsn, peerTSN   uint32 // the first ones
	window         uint32 // the peer's, at first
	outStreams     uint16
	inStreams      uint16
	peerHeld       time.Duration // for how long the peer holds acknowledgements back
	interleave     bool
	zeroIn         bool // packets without a checksum are taken,
	zeroOut        bool // and sent
	trusted        bool
	cookieEnds     int64 // until when a cookie of ours could make it once more; 0: there is none
	paths          []path
	others         addresses // of the peer, over which there is no path
	primary        int       // the path that the association began on
	fruitAt        int64     // since when nothing of the data has been answered
	jammed         jammed
	full           uint64 // times that the peer was, when the sender was last asked
	begin          beginning
	due            bool  // the chunk of the present state is to be sent
	dueAt          int64 // when it is to be sent again; 0: not
	tries          int   // since when that counts,
	repeats        int   // and before
	answers        bool  // it answers what has come once more,
	back           int   // over this path
	guardAt        int64 // when a shutdown has taken too long; 0: there is none
	final          chunk.Type
	finalCause     refusal
	pushed         int   // bytes that were not confirmed
	active         int64 // when the last data went or came
	restAt         int64 // when to look whether memory is to be given back; 0: it was
	chunks         []transfer.Chunk
	packet         packetState
	way            Way // of the latest packet that was sent
	out            *stream.Outgoing
	in             *stream.Incoming
	sender         *transfer.Sender
	receiver       *transfer.Receiver
	sackPath       int    // where the latest data has come from
	strayed        bool   // the last acknowledgement went elsewhere
	Sent, Received uint64 // packets
}

func (e *Endpoint) newAssociation(port uint16) *Association {
	return &Association{e: e, port: port, tie: e.config.Random() | 1, final: none}
}

// none is no chunk.
const none = chunk.Type(0xff)

func (a *Association) enter(now int64, s State) {
	a.state, a.due, a.dueAt, a.tries, a.repeats, a.answers = s, false, 0, 0, 0, false
	switch s {
	case CookieWait, CookieEchoed, ShutdownSent, ShutdownAckSent:
		a.due = true
	}
	if s == ShutdownSent || s == ShutdownAckSent {
		orElse(&a.guardAt, now+guardFactor*int64(a.e.config.RTOMax))
	}
}

// guardFactor is how many RTO.Max a shutdown may take (T5-shutdown-guard, section 9.2).
const guardFactor = 5

// establish makes the association one that carries data.
func (a *Association) establish(now int64) {
	c := &a.e.config
	a.enter(now, Established)
	a.stir(now)
	// The scheduler was tried out when the endpoint was made.
	a.out, _ = stream.NewOutgoing(c.sending(int(a.outStreams), a.interleave))
	a.in = stream.NewIncoming(stream.Receiving{
		Streams: int(a.inStreams), Interleave: a.interleave, Window: min(c.Window, strangerWindow), Pool: c.Pool,
	}, (*inbox)(a))
	if a.trusted {
		a.in.Resize(c.Window)
	}
	a.sender = transfer.NewSender(transfer.Config{
		Outgoing: a.out, TSN: a.tsn, Window: a.window,
		Multipath: c.Multipath, Delay: c.Delay, Outstanding: c.Outstanding, Patience: c.PeerHeld,
	})
	a.receiver = transfer.NewReceiver(a.peerTSN, transfer.Receiving{Held: c.Held})
	for i := range a.paths {
		a.open(now, i)
	}
	if a.begin.trip > 0 {
		a.sender.Path(0).Answered(now, a.begin.trip)
	}
	for i := range a.paths {
		if a.paths[i].state == Active && a.sender.Path(i).Smoothed == 0 {
			a.paths[i].beat.due = true // a lost answer is missed after a round trip, or after RTO.Initial where that is not known
		}
	}
	a.begin = beginning{}
}

// inbox is how an association takes messages, in order to pass them on.
type inbox Association

// Receive implements [stream.Receiver].
func (b *inbox) Receive(stream uint16, ppid uint32, piece []byte, end bool) {
	b.owner.Receive(stream, ppid, piece, end)
}

// Push takes a message. It is the association's until it is confirmed, or the association is down. After an error
// it was not taken.
func (a *Association) Push(now int64, m *stream.Message) error {
	if a.state != Established {
		return ErrOver
	}
	if err := a.out.Push(m); err != nil {
		return err
	}
	a.pushed += m.Size
	a.stir(now)
	return nil
}

// Queued is how many bytes were pushed and are not confirmed.
func (a *Association) Queued() int { return a.pushed }

// Unsent is how many bytes of them are in no packet yet.
func (a *Association) Unsent() int {
	if a.out == nil {
		return a.pushed
	}
	return a.out.Queued()
}

// Trust says that the peer has proved who it is. Until then only a few KB are held for it.
func (a *Association) Trust() {
	a.trusted = true
	if a.in != nil {
		a.in.Resize(a.e.config.Window)
	}
}

// Streams is how many there are in both directions.
func (a *Association) Streams() int { return int(min(a.outStreams, a.inStreams)) }

// Window is how many bytes the peer had room for at first.
func (a *Association) Window() int { return int(a.window) }

// CongestionWindow is how many bytes may be under way over all paths that carry data, as far as the network is concerned.
func (a *Association) CongestionWindow() (bytes int) {
	for i := range a.paths {
		if a.sender != nil && (i == a.sender.Primary() || a.e.config.Multipath) {
			bytes += a.sender.Path(i).Window()
		}
	}
	return bytes
}

// State is where the association stands.
func (a *Association) State() State { return a.state }

// Interleaved reports whether messages travel in I-DATA chunks.
func (a *Association) Interleaved() bool { return a.interleave }

// Unchecked reports whether packets leave without a checksum.
func (a *Association) Unchecked() bool { return a.zeroOut }

// Port is the peer's port of SCTP.
func (a *Association) Port() uint16 { return a.port }

// Remote is the peer's address on the path that the association began on.
func (a *Association) Remote() netip.AddrPort { return a.paths[a.primary].Remote }

// Shutdown ends the association in order, once all that was pushed has arrived.
func (a *Association) Shutdown(now int64) {
	switch a.state {
	case CookieWait, CookieEchoed:
		a.Abort("")
		a.owner.Down(io.EOF)
	case Established:
		a.enter(now, ShutdownPending)
		a.proceed(now)
	}
}

// Abort ends the association at once. [Association.Send] then has one packet that tells the peer. The owner is not
// called any more.
func (a *Association) Abort(reason string) {
	if a.state == Closed {
		return
	}
	if a.peerTag != 0 {
		a.final, a.finalCause = chunk.TypeAbort, refusal{chunk.CauseUser, []byte(reason)}
	}
	a.close()
}

// Discard ends the association without a word to anybody.
func (a *Association) Discard() {
	a.close()
	a.final = none
}

// close has the endpoint forget the association.
func (a *Association) close() {
	if a.state == Closed {
		return
	}
	a.state, a.due, a.dueAt = Closed, false, 0
	a.e.unregister(a)
	if a.cookieEnds != 0 && a.sender != nil { // the cookie of an attempt that was given up is still the peer's way to us
		a.e.ended.bury(a.tag, a.cookieEnds)
	}
	if a.in != nil {
		a.in.Close()
	}
}

// end ends the association, and says why.
func (a *Association) end(err error) {
	if a.state == Closed {
		return
	}
	a.close()
	a.owner.Down(err)
}

// violated ends the association because the peer has done what it must not do.
func (a *Association) violated(cause uint16, info []byte, what string) {
	a.breakOff(refusal{cause, info}, &AbortError{Cause: cause, Info: what, Begun: a.sender != nil})
}

// breakOff ends the association, and tells the peer.
func (a *Association) breakOff(cause refusal, err error) {
	if a.state == Closed {
		return
	}
	if a.peerTag != 0 {
		a.final, a.finalCause = chunk.TypeAbort, cause
	}
	a.end(err)
}

// nobody owns what is refused.
type nobody struct{}

func (nobody) Up()                                  {}
func (nobody) Receive(uint16, uint32, []byte, bool) {}
func (nobody) Confirmed(*stream.Message)            {}
func (nobody) PathChanged(int)                      {}
func (nobody) Down(error)                           {}

// A PathReport is how a path stands.
type PathReport struct {
	Pair
	State PathState
	Since int64
	// Packet is how long packets are now, in bytes.
	Packet int
	// Errors are those in a row.
	Errors int
	// Window and UnderWay are bytes: what may be, and what is, under way.
	Window, UnderWay int
	// RoundTrip is the smoothed one, and Timeout what it makes RTO; 0: not known.
	RoundTrip, Timeout time.Duration
	// Resent counts packets that were lost, and Timeouts how often an answer was late.
	Resent, Timeouts uint64
}

// Paths is how many there are.
func (a *Association) Paths() int { return len(a.paths) }

// Path is how one of them stands, counted from 0.
func (a *Association) Path(i int) PathReport {
	p := &a.paths[i]
	r := PathReport{Pair: p.Pair, State: p.state, Since: p.since, Packet: p.packet(), Errors: p.errors}
	if a.sender != nil {
		s := a.sender.Path(i)
		r.Window, r.UnderWay = s.Window(), s.UnderWay()
		r.RoundTrip, r.Timeout = time.Duration(s.Smoothed), s.Timeout()
		r.Resent, r.Timeouts = s.Losses, s.Probes
	}
	return r
}
