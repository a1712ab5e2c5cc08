package udp

import (
	"net"
	"time"

	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// Names of the parameters.
const (
	prefixOfAll = "btl_udp_"
	pSndbuf     = prefixOfAll + "sndbuf"
	pRcvbuf     = prefixOfAll + "rcvbuf"
	pPacket     = prefixOfAll + "packet"
	pProtect    = prefixOfAll + "protect"
	pCongestion = prefixOfAll + "congestion"
	pTimeout    = prefixOfAll + "timeout"
	pHeartbeat  = prefixOfAll + "heartbeat"
	pEagerLimit = prefixOfAll + "eager_limit"
	pMaxFrag    = prefixOfAll + "max_frag"
)

var specs = append(wireup.AllParameters(prefixOfAll), []param.Spec{
	{Name: pProtect, Kind: param.Enum, Default: protections[protectNone], Choices: protections, Level: param.User,
		Help: "Whether packets are authenticated, so that nobody on the way can change or forge one, or encrypted as well (AES-128-GCM, keys for each connection and direction, from its handshake). The same for all ranks: two that differ do not connect, and say so."},
	{Name: pCongestion, Kind: param.Enum, Default: "cubic", Choices: []string{"cubic", "reno"}, Level: param.Tuner,
		Help: "Congestion control: cubic (RFC 9438) or reno (as in SCTP, RFC 9260)."},
	{Name: pPacket, Kind: param.Size, Default: "0", Min: "0", Max: "65000", Level: param.Tuner,
		Help: "Longest packet, in bytes of UDP's payload, 512 at least; 0 takes what the interface carries. How much the whole path carries is found out (RFC 8899), from 1200 bytes on, or from 512 where those do not get through."},
	{Name: pSndbuf, Kind: param.Size, Default: "4M", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Size of the system's send buffer for each socket, as far as the system allows (net.core.wmem_max); 0 leaves it to the system."},
	{Name: pRcvbuf, Kind: param.Size, Default: "4M", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Size of the system's receive buffer for each socket, as far as the system allows (net.core.rmem_max); 0 leaves it to the system. Peers keep no more under way than half of what it got, or, where a round trip takes longer than 2 ms, as many times more: the buffer has room for what arrives within 2 ms."},
	{Name: pTimeout, Kind: param.Duration, Default: "30s", Min: "100ms", Max: "24h", Level: param.Tuner,
		Help: "After how long a silence, in which probes were not answered, a connection is given up. So it is if the peer is heard, and acknowledges nothing of what is sent for so long."},
	{Name: pHeartbeat, Kind: param.Duration, Default: "15s", Min: "0s", Max: "24h", Level: param.Tuner,
		Help: "After how long a silence the peer is asked whether it is there; 0 never asks. Keeps firewalls and address translators from forgetting idle connections."},
	{Name: pEagerLimit, Kind: param.Size, Default: "64K", Min: "0", Max: "1G", Level: param.Tuner,
		Help: "Messages up to this size are sent without asking the receiver first. Unless it is set, longer ones are too over a path that is known to carry less than 2 Gbit/s, up to pml_eager_awaited."},
	{Name: pMaxFrag, Kind: param.Size, Default: "256K", Min: "1K", Max: "16M", Level: param.Tuner,
		Help: "Largest piece of a long message that is sent as one frame."},
}...)

// config is the values of the parameters.
type config struct {
	protect        int
	protectSetting param.Value // for errors
	congestion     string
	packet         int
	sndbuf, rcvbuf int
	timeout        time.Duration
	heartbeat      time.Duration
	eagerLimit     int
	eagerFixed     bool // by the user
	maxFrag        int
}

func readConfig(v *param.Values) config {
	c := config{
		protectSetting: v.Value(pProtect),
		congestion:     v.String(pCongestion), packet: int(v.Size(pPacket)),
		sndbuf: int(v.Size(pSndbuf)), rcvbuf: int(v.Size(pRcvbuf)),
		timeout: v.Duration(pTimeout), heartbeat: v.Duration(pHeartbeat), eagerLimit: int(v.Size(pEagerLimit)),
		eagerFixed: v.Value(pEagerLimit).Source.Kind != param.Default, maxFrag: int(v.Size(pMaxFrag)),
	}
	for i, name := range protections {
		if v.String(pProtect) == name {
			c.protect = i
		}
	}
	return c
}

// control makes the congestion control of a connection.
func (c *config) control(packet int) recovery.Controller {
	if c.congestion == "reno" {
		return recovery.NewReno(packet)
	}
	return recovery.NewCubic(packet)
}

// Headers of IP and UDP.
const (
	headers4 = 20 + 8
	headers6 = 40 + 8
)

// mtus returns the longest packets of IP that the interfaces carry, by their indices. They are asked for once: with each answer the
// kernel lists all, which on a host of containers are hundreds.
func mtus() map[int]int {
	found := make(map[int]int)
	all, _ := net.Interfaces() // what is not known is found out by packets
	for _, nic := range all {
		found[nic.Index] = nic.MTU
	}
	return found
}

// longest is the longest packet that the interface of an address carries.
func (c *config) longest(a reach.Address, mtus map[int]int) int {
	limit := rawio.MaxSegmentsBytes
	if c.packet != 0 {
		limit = max(c.packet, leastPacket)
	}
	if mtu, known := mtus[a.Index]; known {
		limit = min(limit, mtu-headersOf(a))
	}
	return max(limit, leastPacket)
}

func headersOf(a reach.Address) int {
	if a.Addr().Is6() {
		return headers6
	}
	return headers4
}

// leastPacket has room for a part of any frame, and for an acknowledgement.
const leastPacket = 512
