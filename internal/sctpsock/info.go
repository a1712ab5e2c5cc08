package sctpsock

import "fmt"

// AssocID is the kernel's number of an association. Real ones begin at 3; 0 to 2 have
// special meanings, such as all associations to come.
type AssocID int32

// A SendInfo says what is to become of a message.
type SendInfo struct {
	Assoc  AssocID
	Stream uint16
	// PPID is the payload protocol identifier, in host byte order.
	PPID uint32
	// AckNow asks the peer to acknowledge at once (RFC 7053) instead of waiting up to
	// 200 ms for a second packet.
	AckNow bool
}

// A RecvInfo says what a received piece is.
type RecvInfo struct {
	Assoc  AssocID
	Stream uint16
	// PPID is the payload protocol identifier, in host byte order; valid in each
	// piece.
	PPID uint32
	// SSN is the message's number in its stream, from 0 on.
	SSN uint16
	// End says that the piece is the last of its message.
	End bool
	// Notification says that this is no message but something for
	// [ParseNotification]; no other field but End is set.
	Notification bool
}

// An UnavailableError says that SCTP sockets can not be had.
type UnavailableError struct {
	Err    error  // what the kernel answered
	Remedy string // what to do about it
}

func (e *UnavailableError) Unwrap() error { return e.Err }

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("no kernel SCTP: %v (%s)", e.Err, e.Remedy)
}

// An OptionError says which option of a socket could not be set.
type OptionError struct {
	Option string // "SCTP_RTOINFO"
	Value  string // "initial 0s, min 2s, max 1s"
	Err    error
	Remedy string // may be empty
}

func (e *OptionError) Unwrap() error { return e.Err }

func (e *OptionError) Error() string {
	s := fmt.Sprintf("setsockopt %s %s: %v", e.Option, e.Value, e.Err)
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Charge returns an upper bound of what a message of size bytes takes of the socket's
// send buffer, in bytes, until it is acknowledged. The kernel cuts the message into
// chunks of at most fragment bytes. Each takes the memory of its data, rounded up as
// the kernel's allocator does, and of its headers.
func Charge(size, fragment int) int {
	if fragment <= 0 {
		fragment = leastFragment
	}
	whole := size / fragment
	charge := whole * chunkCharge(fragment)
	if rest := size - whole*fragment; rest > 0 || whole == 0 {
		charge += chunkCharge(rest)
	}
	return charge
}

const (
	// leastFragment is what the smallest MTU that one meets with IPv4 leaves for data.
	leastFragment = 500
	// Beside a chunk's data, its buffer holds a header and struct skb_shared_info.
	bufferOverhead = 16 + 320
	// struct sk_buff and struct sctp_chunk.
	chunkOverhead = 256 + 384
)

func chunkCharge(n int) int {
	bucket := 512
	for bucket < n+bufferOverhead {
		bucket *= 2
	}
	return bucket + chunkOverhead
}
