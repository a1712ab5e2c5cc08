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
// The time of a frame is that at which the kernel got it. So a thread that comes late delays only
// what it should have sent by now. With few frames on their way the thread wakes up for each,
// after a long sleep a little early. With many it looks every 20 µs, like a NIC that moderates
// its interrupts, which leaves the processors to the hosts. Stats count how late frames were.
//
// # What it needs from the interfaces
//
// Frames must be as long as on a wire and complete: segmentation, receive
// and checksum offload have to be off at both ends (package network does that).
// What is longer than the MTU is dropped and counted.
//
// [HardwareAddr] gives the hosts their addresses. Broadcasts, and frames for no host, are dropped
// and counted: hosts know each other's addresses and do not ask for them.
package wire
