// Package emulate computes what a bad network does to frames: it delays, loses,
// repeats, reorders and damages them, and lets only so many through.
//
// It is pure: it knows neither sockets nor clocks nor the frames' contents. Time
// is a [time.Duration] since the start of the network, chance comes from a seed,
// and a frame is a number and a size. Package wire moves real frames by it.
//
// # The network
//
// Hosts are joined by a switch. Each host has a [NIC] that sends and receives at a
// [Rate], with a bounded [Queue] before it in both directions: the host's own on
// the way out, the switch's on the way in. Between every two hosts there is a
// [Path] for each direction.
//
//	host ─ queue ─ rate ──▶ path: loss, delay, … ──▶ queue ─ rate ─ host
//
// A frame takes, in this order: its turn in the sender's queue, or it is dropped
// there; the time to send its bits; its chance to be lost, damaged, doubled or
// held back; the path's delay; its turn in the receiver's queue, or it is dropped
// there. The switch passes bits on as they come in, so that a receiver of one
// sender adds nothing to the sender's time.
//
// # Replay
//
// What happens to a path's nth frame depends on the seed, the path and n alone,
// not on time, on other paths, or on what else is switched on.
package emulate
