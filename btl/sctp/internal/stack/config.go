package stack

import (
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// InnerPort is SCTP's own port at both ends of an association over UDP, if either end
// is a user stack. There UDP's ports tell the processes apart.
const InnerPort = 5000

// Config is what a stack is opened with.
type Config struct {
	// Loop is the progress engine.
	Loop btl.Loop
	// Local are the addresses to listen on, all at one port; link-local ones of
	// IPv6 have their zone.
	Local []netip.Addr
	// Ports are those to try.
	Ports wireup.Ports
	// Peers is how many there can be; 0: nobody knows.
	Peers int
	// Accept makes known an association that a peer has begun and that has just come
	// up. It returns the handler for it, whose Up is not called. Nil refuses the peer:
	// the association is aborted.
	Accept func(Association) Handler
	// Room reports whether an association with somebody at that address can be accepted at
	// the moment. If not, a stack that can do so leaves the peer waiting instead of asking
	// Accept: the peer tries again by itself.
	Room func(from netip.AddrPort) bool
	// Warn writes a line for people about strangers or the system; the transport
	// limits how many.
	Warn func(from netip.AddrPort, err error)
	// Meddle is for tests: what becomes of a packet that arrives at the stack in user space. It hands on what is to
	// be taken, now or when it is called for a later one.
	Meddle func(packet []byte, take func([]byte))

	Tuning
}

// Tuning is what the transport's parameters say. Zero values stand for the
// stack's own default, unless said otherwise.
type Tuning struct {
	// Streams to ask for in each direction, the control stream included; at least
	// 2. The peer may have fewer.
	Streams int
	// MaxMessage is the longest message, in bytes, that either side sends.
	MaxMessage int
	// Outstanding bounds, in bytes, what one peer was sent and has not acknowledged.
	// When it is reached Send says Busy. It is never 0.
	Outstanding int
	// MostOutstanding is up to what a stack that knows its congestion windows lets it grow where they are of
	// paths to another machine and wider. It is no less than Outstanding.
	MostOutstanding int
	// SendBuffer and ReceiveBuffer in bytes: of the socket, or of each association
	// where there is no such socket.
	SendBuffer, ReceiveBuffer int
	// Delay has small messages wait for acknowledgements of earlier ones, so that
	// they can share a packet (Nagle).
	Delay bool
	// RTOInitial, RTOMin and RTOMax bound the time to a retransmission.
	RTOInitial, RTOMin, RTOMax time.Duration
	// Heartbeat is the time between two heartbeats on an idle path.
	Heartbeat time.Duration
	// PathMaxRetrans and AssocMaxRetrans are how many retransmissions or heartbeats
	// in a row may go unanswered before a path, or the association, is down.
	PathMaxRetrans, AssocMaxRetrans int
	// Autoclose is after how long without a message an association is shut down, in whole seconds; 0
	// is never.
	Autoclose time.Duration
	// Interleave messages of different streams (I-DATA, RFC 8260).
	Interleave bool
	// Scheduler says which stream's message goes next: "fcfs", "rr", "prio", "fc" or
	// "wfq".
	Scheduler string
	// Priorities are the streams' places with the scheduler prio (lower goes first), or
	// their weights with wfq, from stream 1 on. The last counts for all further streams.
	// The control stream has place 0. If there are none, it is left to the stack.
	Priorities []uint16
	// EncapPort is the UDP port of the peers' kernels (RFC 6951); 0: no
	// encapsulation.
	EncapPort int
	// MTU is the largest packet, in bytes, to another host and to this one, SCTP's
	// header included.
	MTU, LoopbackMTU int
	// Congestion is the congestion control of each path: "reno" or "cubic".
	Congestion string
	// Multipath sends over all good paths at the same time.
	Multipath bool
	// ZeroChecksum does without SCTP's checksum where the peer offers the same (RFC 9653).
	ZeroChecksum bool
	// ConnectTimeout is how long Associate may take.
	ConnectTimeout time.Duration
}

// An UnsupportedError says that a stack can not do what a parameter asks for.
type UnsupportedError struct {
	// Parameter without the prefix btl_sctp_, Stack that can not, and Able that can.
	Parameter, Stack, Able string
	// Why, and what the system answered, if it was asked.
	Why string
}

func (e *UnsupportedError) Error() string {
	s := "the " + e.Stack + " stack can not do this"
	if e.Why != "" {
		s += ": " + e.Why
	}
	if e.Able != "" {
		s += " (the " + e.Able + " stack can: btl_sctp_stack=" + e.Able + ")"
	}
	return s
}
