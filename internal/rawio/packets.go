//go:build unix

package rawio

// Bounds of what goes out at once to one destination: of packets that the kernel cuts for itself (its
// UDP_MAX_SEGMENTS), of their bytes, which have to fit one UDP datagram before they are cut, and of the
// pieces that they are made of.
const (
	MaxSegments      = 64
	MaxSegmentsBytes = 65000
	MaxPacketPieces  = 4 * MaxSegments
)

// A Way is how packets are handed to the system: the fastest that has worked so far.
type Way uint8

// The ways.
const (
	OneByOne  Way = iota // a call a packet
	ManyCalls            // sendmmsg and recvmmsg: a call for many packets, each of which is worked on by itself
	Segmented            // UDP_SEGMENT and UDP_GRO: a call for many packets, which are worked on as one
)

func (w Way) String() string { return [...]string{"one packet a call", "sendmmsg", "UDP_SEGMENT"}[w] }
