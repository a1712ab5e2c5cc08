// Package reach finds out which addresses of two hosts should be connected with
// each other: it reads the addresses of this host, judges every pair of one of
// ours and one of the peer's by a policy, and chooses the set of pairs that
// promises the most throughput.
//
// # Quality
//
// A [Policy] gives each pair a quality, 0 for a pair that can not work. What
// holds whatever the policy comes first:
//
//   - Families do not mix, and a loopback address leads to another one only.
//   - Loopback addresses count only within one [Network]. Outside of it they are
//     never tried; neither equal host names nor equal addresses make two
//     processes neighbours. Where an identity can not be read nobody knows: then
//     what only neighbours can do is tried if nothing else is left, and the
//     handshake proves whether they are.
//   - An address that this host holds itself never is a peer's on another
//     network, nor is one of ours that the peer holds too: docker0 is
//     172.17.0.1 everywhere.
//   - An interface without a carrier carries nothing.
//   - Link-local addresses are the same on every link, so they can not tell
//     which links are joined. They count only between hosts that have no other
//     way.
//
// # Masks
//
// Two addresses are in one subnet if each lies in the subnet that the other's
// prefix states. A prefix of full length, /32 or /128, is a network of one
// address: nobody else is in its subnet. A prefix of length 0 states no subnet
// at all: nobody is in it either. It does not mean that the whole world is one
// subnet.
//
// # Weight and choice
//
// The weight of a pair is
//
//	quality × (min(a, b) + 1/(1+|a−b|))
//
// with the speeds a and b of the two interfaces in Mbit/s. A speed that is not
// known is taken to equal the other end's; where neither is known, both are
// taken to be as fast as the fastest card known of the two hosts, or 0 if
// none is, so that the weight is the quality.
//
// What a tunnel sends (VXLAN, GRE, WireGuard, TUN) goes through a card all the same.
// Whatever its driver says of its speed, its weight is a 1024th of its quality, less
// than any card's, and its card is the one that it runs over, so that no pair of that
// card is beside it. A tunnel over nobody knows what serves only where nothing else
// does, and so does a bridge without a card in it, such as docker0: other hosts are
// not behind it.
//
// [Match] chooses pairs so that the sum of their weights is the largest
// possible, with each interface used at most once. It does not look for many
// pairs: one that would take interfaces away from better ones is left out, and
// among choices of equal weight the one with fewer pairs wins. Two processes on
// one network get a single pair, since the kernel's loopback carries all of
// them.
//
// Everything but [System] and the route lookups of the policy route is pure:
// equal arguments give equal results.
package reach
