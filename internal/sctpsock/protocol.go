//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// protocol lists the options of SCTP that are to be set, in the order in which
// the kernel accepts them.
func (o Options) protocol() []option {
	all := []option{
		{"SCTP_RECVRCVINFO", optRecvRcvInfo, words(1), "on", "Linux 3.17 or later has it"},
		{name: "SCTP_INITMSG", number: optInitMsg,
			value: halves(o.Streams, o.Streams, o.InitAttempts, int(milliseconds(o.InitTimeout))),
			text:  fmt.Sprintf("%d streams, %d attempts, pauses up to %v", o.Streams, o.InitAttempts, o.InitTimeout)},
	}
	add := func(want bool, p option) {
		if want {
			all = append(all, p)
		}
	}
	add(o.NoDelay, option{name: "SCTP_NODELAY", number: optNoDelay, value: words(1), text: "on"})
	add(o.RTOInitial|o.RTOMin|o.RTOMax != 0, option{name: "SCTP_RTOINFO", number: optRTOInfo,
		value:  words(0, milliseconds(o.RTOInitial), milliseconds(o.RTOMax), milliseconds(o.RTOMin)),
		text:   fmt.Sprintf("initial %v, min %v, max %v", o.RTOInitial, o.RTOMin, o.RTOMax),
		remedy: "min ≤ initial ≤ max, and within net.sctp.rto_min and rto_max where those are not set"})
	add(o.AssocMaxRetrans != 0, option{name: "SCTP_ASSOCINFO", number: optAssocInfo,
		value: append(append(words(0), halves(o.AssocMaxRetrans, 0)...), words(0, 0, 0)...),
		text:  fmt.Sprintf("%d retransmissions", o.AssocMaxRetrans)})
	add(o.Heartbeat != 0 || o.PathMaxRetrans != 0, option{name: "SCTP_PEER_ADDR_PARAMS", number: optPeerAddrParams,
		value: o.peerAddrParams(), text: fmt.Sprintf("heartbeat every %v, %d retransmissions", o.Heartbeat, o.PathMaxRetrans)})
	add(o.Autoclose != 0, option{name: "SCTP_AUTOCLOSE", number: optAutoclose,
		value: words(uint32((o.Autoclose + time.Second - 1) / time.Second)), text: o.Autoclose.String(),
		remedy: "at most net.sctp.max_autoclose seconds"})
	add(o.FragmentInterleave != 0, option{name: "SCTP_FRAGMENT_INTERLEAVE", number: optFragmentInterleave,
		value: words(uint32(o.FragmentInterleave)), text: fmt.Sprint(o.FragmentInterleave), remedy: "0, 1 or 2"})
	add(o.Interleave, option{name: "SCTP_INTERLEAVING_SUPPORTED", number: optInterleaving, value: words(0, 1), text: "on",
		remedy: "it takes sysctl net.sctp.intl_enable=1, set before the program starts"})
	add(o.Scheduler != FirstCome, option{name: "SCTP_STREAM_SCHEDULER", number: optStreamScheduler,
		value: words(0, uint32(o.Scheduler)), text: fmt.Sprint(int(o.Scheduler)), remedy: "Linux 4.15 or later has it"})
	add(o.EncapPort != 0, option{name: "SCTP_REMOTE_UDP_ENCAPS_PORT", number: optRemoteEncapsPort,
		value: o.encapsPort(), text: fmt.Sprint(o.EncapPort),
		remedy: "Linux 5.11 or later has it; sysctl net.sctp.udp_port is the port of this side"})
	return all
}

// peerAddrParams is struct sctp_paddrparams, packed, for all addresses of all
// associations to come.
func (o Options) peerAddrParams() []byte {
	b := make([]byte, 156)
	if o.Heartbeat != 0 {
		binary.NativeEndian.PutUint32(b[132:], milliseconds(o.Heartbeat))
		const heartbeatOn = 1
		binary.NativeEndian.PutUint32(b[146:], heartbeatOn)
	}
	binary.NativeEndian.PutUint16(b[136:], uint16(o.PathMaxRetrans))
	return b
}

// encapsPort is struct sctp_udpencaps, for all addresses of all associations to
// come.
func (o Options) encapsPort() []byte {
	b := make([]byte, 144)
	binary.BigEndian.PutUint16(b[136:], o.EncapPort)
	return b
}

// SetEncapPort says which UDP port associations to come are carried to (RFC 6951);
// 0 is none.
func (s *Socket) SetEncapPort(port uint16) error {
	return s.set("SCTP_REMOTE_UDP_ENCAPS_PORT", optRemoteEncapsPort, Options{EncapPort: port}.encapsPort())
}

// Subscribe switches notifications of one kind on or off, for one association or,
// with 0, for all to come. If [SenderDry] is switched on for an association that has
// nothing outstanding, one comes at once.
func (s *Socket) Subscribe(id AssocID, kind Kind, on bool) error {
	value := append(words(uint32(id)), halves(int(kind))...) // struct sctp_event
	if on {
		value = append(value, 1, 0)
	} else {
		value = append(value, 0, 0)
	}
	if err := s.set("SCTP_EVENT", optEvent, value); err != nil {
		return &OptionError{Option: "SCTP_EVENT", Value: fmt.Sprintf("%#x %v", uint16(kind), on), Err: errors.Unwrap(err),
			Remedy: "Linux 5.0 or later has it"}
	}
	return nil
}

// SetPriority gives a stream of an association its place with the scheduler
// [Priority]; lower values go first.
func (s *Socket) SetPriority(id AssocID, stream, value uint16) error {
	return s.set("SCTP_STREAM_SCHEDULER_VALUE", optSchedulerValue, append(words(uint32(id)), halves(int(stream), int(value))...))
}
