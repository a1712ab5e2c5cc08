// Package wire moves frames between network interfaces as package emulate says:
// a bad network in user space, for kernels that have none (netem) and users who
// may not configure it.
//
// Each host of the network has one interface here, the near end of a pair of veths
// whose far end is the host's. One thread reads what the hosts send, from rings
// that it shares with the kernel (AF_PACKET, TPACKET_V2), and sends it to where its
// destination address says, when the [emulate.Switch] says. It needs the right to
// open such sockets (CAP_NET_RAW), which every user has in a namespace of their own.
//
// # Time
//
// Times are those at which the kernel got a frame, so that a thread that comes late
// delays only what it would have sent by now. With few frames on their way it wakes up
// for each, after a long sleep a little early; with many it looks every 20 µs, as a
// NIC that moderates its interrupts, which leaves the processors to the hosts. How
// late frames were is counted (Stats).
//
// # What it needs from the interfaces
//
// Frames must be as long as on a wire and complete: segmentation, receive
// and checksum offload have to be off at both ends (package network does that).
// What is longer than the MTU is dropped and counted.
//
// Addresses say where to: [HardwareAddr]. Broadcasts, and what is for nobody, are
// dropped and counted: hosts know each other's addresses and do not ask for them.
package wire
