package btl

import (
	"errors"
	"fmt"
	"strings"
)

// ErrPeerClosed: the peer ended the connection in order; it has left the job.
var ErrPeerClosed = errors.New("peer has closed the connection")

// ErrUnwelcome: the peer has proved who it is and takes no connection from this process any
// more. Either it has declared this process failed, or it is leaving.
var ErrUnwelcome = errors.New("the peer takes no connection from this process any more")

// ErrClosed: the module or endpoint was closed on this side.
var ErrClosed = errors.New("transport is closed")

// A ConnError is a failure of one connection, with all that is needed to
// understand it.
type ConnError struct {
	Transport string // "tcp"
	Rank      int    // this process
	Peer      int    // the other, or -1 if not known
	PeerHost  string
	Local     string // addresses, as far as known
	Remote    string
	Phase     string // "connecting", "handshake", "receiving", …
	InFlight  int    // bytes handed over and not known to have arrived; -1 unknown
	Err       error
	Remedy    string
	// Final says that another attempt would fail in the same way: the peer has proved who it
	// is and refuses, or the process at the address has failed to prove that it is the peer.
	// Any other failure of a peer that was connected before may pass.
	//
	// Err wraps [ErrUnwelcome] if the peer refuses this process, and [syscall.ECONNREFUSED] if
	// nothing listens at the address. If no answer came in time, Err wraps an error whose
	// method Timeout says so, such as [syscall.ETIMEDOUT].
	Final bool
}

func (e *ConnError) Unwrap() error { return e.Err }

func (e *ConnError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: rank %d", e.Transport, e.Rank)
	if e.Peer >= 0 {
		fmt.Fprintf(&b, " → rank %d", e.Peer)
		if e.PeerHost != "" {
			fmt.Fprintf(&b, " on %s", e.PeerHost)
		}
	}
	if e.Local != "" || e.Remote != "" {
		fmt.Fprintf(&b, " (%s → %s)", orUnknown(e.Local), orUnknown(e.Remote))
	}
	return b.String() + " " + e.What()
}

// What returns the part of the message that says what happened. It leaves out ranks and
// addresses, for a line that names these itself.
func (e *ConnError) What() string {
	s := fmt.Sprintf("%s: %v", e.Phase, e.Err)
	if e.InFlight > 0 {
		s += fmt.Sprintf(", %d bytes in flight", e.InFlight)
	}
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}
