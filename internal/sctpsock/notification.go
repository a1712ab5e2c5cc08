package sctpsock

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Kind is what a notification is about; the numbers are the kernel's
// (linux/sctp.h, enum sctp_sn_type).
type Kind uint16

const (
	AssocChange     Kind = 0x8001 + iota // State: CommUp, …
	PeerAddrChange                       // State: AddrAvailable, …; Addr
	SendFailed                           // Data: the message
	RemoteError                          // Error: RFC 9260, section 3.3.10
	Shutdown                             // the peer has nothing more to send
	PartialDelivery                      // a message that was begun breaks off: Stream
	Adaptation                           //
	Authentication                       //
	SenderDry                            // everything is acknowledged
	StreamReset                          // Data: numbers of streams
	AssocReset                           //
	StreamChange                         // In, Out: how many there are now
	SendFailedEvent                      // as SendFailed, in a newer form
)

// States of [AssocChange].
const (
	CommUp          = 0
	CommLost        = 1
	Restart         = 2
	ShutdownDone    = 3
	CannotAssociate = 4
)

// States of [PeerAddrChange].
const (
	AddrAvailable         = 0
	AddrUnreachable       = 1
	AddrRemoved           = 2
	AddrAdded             = 3
	AddrMadePrimary       = 4
	AddrConfirmed         = 5
	AddrPotentiallyFailed = 6
)

// A Notification is something that has happened to an association.
type Notification struct {
	Kind  Kind
	Flags uint16
	Assoc AssocID
	// State of an association or address.
	State int
	// Error is the reason, as far as there is one: the cause that the peer's ABORT
	// names (AssocChange, RemoteError, SendFailed), the kernel's code
	// (PeerAddrChange).
	Error int
	// Out and In are numbers of streams.
	Out, In uint16
	// Stream is the number of one.
	Stream uint16
	// Addr is the peer's.
	Addr netip.AddrPort
	// Data is what the kernel adds, in the buffer that was parsed.
	Data []byte
}

// layouts of notifications: where the association's number is, and the size of the fixed
// part.
var layouts = map[Kind]struct{ assoc, size int }{
	AssocChange:     {16, 20},
	PeerAddrChange:  {144, 148},
	SendFailed:      {44, 48},
	RemoteError:     {12, 16},
	Shutdown:        {8, 12},
	PartialDelivery: {12, 24},
	Adaptation:      {12, 16},
	Authentication:  {16, 20},
	SenderDry:       {8, 12},
	StreamReset:     {8, 12},
	AssocReset:      {8, 20},
	StreamChange:    {8, 16},
	SendFailedEvent: {28, 32},
}

// ParseNotification reads what [Socket.Receive] returned with
// RecvInfo.Notification. Kinds that are not known give an error, as does anything
// that is too short or contradicts itself.
func ParseNotification(b []byte) (Notification, error) {
	u16 := func(at int) uint16 { return binary.NativeEndian.Uint16(b[at:]) }
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	if len(b) < 8 {
		return Notification{}, fmt.Errorf("SCTP notification of %d bytes: want at least 8", len(b))
	}
	n := Notification{Kind: Kind(u16(0)), Flags: u16(2)}
	layout, ok := layouts[n.Kind]
	if !ok {
		return n, fmt.Errorf("SCTP notification of unknown kind %#x", uint16(n.Kind))
	}
	length := u32(4)
	if length < uint32(layout.size) || uint64(length) > uint64(len(b)) {
		return n, fmt.Errorf("SCTP notification of kind %#x says that it has %d bytes: want at least %d, and have %d",
			uint16(n.Kind), length, layout.size, len(b))
	}
	n.Assoc = AssocID(u32(layout.assoc))
	n.Data = b[layout.size:length]
	switch n.Kind {
	case AssocChange:
		n.State, n.Out, n.In = int(u16(8)), u16(12), u16(14)
		n.Error = int(binary.BigEndian.Uint16(b[10:])) // as in the ABORT
	case PeerAddrChange:
		n.State, n.Error = int(int32(u32(136))), int(int32(u32(140)))
		n.Addr, _ = parseSockaddr(b[8:136])
	case SendFailed, SendFailedEvent:
		n.Error, n.Stream = int(u32(8)), u16(12)
	case RemoteError:
		n.Error = int(binary.BigEndian.Uint16(b[8:]))
	case PartialDelivery:
		n.State, n.Stream = int(u32(8)), uint16(u32(16))
	case StreamChange:
		n.In, n.Out = u16(12), u16(14)
	}
	return n, nil
}
