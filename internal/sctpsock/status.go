//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// A Status is how an association fares.
type Status struct {
	State int // linux/sctp.h, enum sctp_sstat_state; 4 is established
	// PeerWindow is the room in the peer's receive buffer, in bytes.
	PeerWindow int
	// Unacknowledged counts the chunks that wait for an acknowledgement, Pending those
	// that have come and wait to be received.
	Unacknowledged, Pending int
	In, Out                 int // streams
	// Fragment is the most data that a chunk holds, in bytes.
	Fragment int
	Primary  Path
}

// A Path is one of the peer's addresses.
type Path struct {
	Addr  netip.AddrPort
	State PathState
	// Window is the congestion window in bytes.
	Window    int
	RoundTrip time.Duration
	RTO       time.Duration
	MTU       int
}

// PathState is the kernel's enum sctp_spinfo_state.
type PathState int32

const (
	PathInactive          PathState = 0
	PathPotentiallyFailed PathState = 1
	PathActive            PathState = 2
	PathUnconfirmed       PathState = 3
)

const (
	sizeStatus = 176 // struct sctp_status
	sizePath   = 152 // struct sctp_paddrinfo, packed
	sizeStats  = 256 // struct sctp_assoc_stats
	atResent   = 176 // its sas_rtxchunks
)

// Status asks how an association fares.
func (s *Socket) Status(id AssocID) (Status, error) {
	var b [sizeStatus]byte
	binary.NativeEndian.PutUint32(b[:], uint32(id))
	n, err := s.get("SCTP_STATUS", optStatus, b[:])
	if err != nil {
		return Status{}, err
	}
	if n < sizeStatus {
		return Status{}, fmt.Errorf("getsockopt SCTP_STATUS: %d bytes, want %d", n, sizeStatus)
	}
	u16 := func(at int) int { return int(binary.NativeEndian.Uint16(b[at:])) }
	u32 := func(at int) int { return int(binary.NativeEndian.Uint32(b[at:])) }
	return Status{
		State: u32(4), PeerWindow: u32(8), Unacknowledged: u16(12), Pending: u16(14),
		In: u16(16), Out: u16(18), Fragment: u32(20), Primary: parsePath(b[24:]),
	}, nil
}

// Path asks how one path of an association fares.
func (s *Socket) Path(id AssocID, addr netip.AddrPort) (Path, error) {
	var b [sizePath]byte
	binary.NativeEndian.PutUint32(b[:], uint32(id))
	a, err := s.encode([]netip.Addr{addr.Addr()}, addr.Port())
	if err != nil {
		return Path{}, err
	}
	copy(b[4:], a)
	n, err := s.get("SCTP_GET_PEER_ADDR_INFO", optPeerAddrInfo, b[:])
	if err != nil {
		return Path{}, err
	}
	if n < sizePath {
		return Path{}, fmt.Errorf("getsockopt SCTP_GET_PEER_ADDR_INFO: %d bytes, want %d: %w", n, sizePath, unix.EINVAL)
	}
	return parsePath(b[:]), nil
}

// parsePath reads a struct sctp_paddrinfo.
func parsePath(b []byte) Path {
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	addr, _ := parseSockaddr(b[4:132])
	return Path{
		Addr: addr, State: PathState(u32(132)), Window: int(u32(136)),
		RoundTrip: time.Duration(u32(140)) * time.Millisecond, RTO: time.Duration(u32(144)) * time.Millisecond,
		MTU: int(u32(148)),
	}
}

// Resent asks how many chunks of an association were sent again.
func (s *Socket) Resent(id AssocID) (uint64, error) {
	var b [sizeStats]byte
	binary.NativeEndian.PutUint32(b[:], uint32(id))
	n, err := s.get("SCTP_GET_ASSOC_STATS", optAssocStats, b[:])
	if err == nil && n < atResent+8 {
		err = fmt.Errorf("getsockopt SCTP_GET_ASSOC_STATS: %d bytes, want %d: %w", n, sizeStats, unix.EINVAL)
	}
	return binary.NativeEndian.Uint64(b[atResent:]), err
}
