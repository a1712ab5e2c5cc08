// Package selection decides which transports a process uses and which of them
// serve a peer. It is pure: it opens nothing, asks nobody and reads no clock;
// the same input gives the same answer on every machine.
//
// A process first turns the parameter btl into a [List] and the list into
// components ([List.Components]). Later, at the first contact with a peer, every
// open module is asked for its paths, and [Pick] makes a [Choice] of the
// [Offer] values:
//
//   - Of the modules that reach the peer only those of the highest exclusivity
//     serve it.
//   - Others that may stand by take over when no rail leads to the peer any more.
//   - Control frames and short messages take the rail of the lowest latency.
//   - The pieces of long messages are spread over all rails in proportion to
//     their bandwidth, and to what a module thinks of its paths.
//
// Exclusivity, latency and bandwidth are the module's, unless the user has set them
// ([Overrides]).
//
// A choice says in words why each module was taken or left out.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package selection
