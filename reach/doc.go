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
//   - Loopback addresses count only within one [Network]. Between two networks they
//     are never tried; neither equal host names nor equal addresses make two
//     processes neighbours. If the identity of one network can not be read, a pair
//     that only neighbours can use is tried when no other pair is left, and the
//     handshake proves who answers.
//   - An address that both hosts hold joins nothing between two networks: docker0
//     is 172.17.0.1 everywhere.
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
// What a tunnel (VXLAN, GRE, WireGuard, TUN) sends leaves the host through a card. The
// tunnel counts as that card, so that no choice has both. Its weight is a 1024th of its
// quality, less than any card's, whatever speed its driver states. A tunnel whose
// underlay is not known serves only if nothing else does. So does a bridge without a
// card in it, such as docker0: no other host is behind it. So does an address of the host's own, on
// the loopback interface or a dummy: any card may carry it.
//
// [Match] chooses pairs so that the sum of their weights is the largest
// possible, with each interface used at most once. Many pairs are no aim: a pair
// that would take interfaces away from better ones is left out, and among choices
// of equal weight the one with fewer pairs wins. Two processes on one network get a
// single pair, since the kernel's loopback carries every pair between them, and one of the
// other family to spare.
//
// Everything but [System] and the route lookups of the policy route is pure:
// equal arguments give equal results.
package reach
