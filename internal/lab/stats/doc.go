// Package stats describes samples of measurements: quantiles, medians with their intervals, and
// by how much one sample exceeds another.
//
// Runs are few, and neither their shape nor that two transports have the same one can be taken
// for granted: over a link that loses frames one may be steady and the other not. So all
// intervals here are between two of the measured values, by how likely it is that so many of
// them are on one side of the true median, which is a matter of coins (Thompson 1936). That
// holds for every distribution, with ties too.
//
//   - [Summarize] has the interval of a median.
//   - [ByRound] compares what was measured in pairs: each pair's ratio is one value, and whatever
//     a pair has in common, chances of a network or a busy moment of the machine, drops out.
//   - [OfMedians] compares two samples that have nothing in common. The interval is as wide as
//     those of both medians together make it, which is wider than it had to be if they had the
//     same shape, and which no shapes make too narrow.
//
// Intervals that assume that one sample is a multiple of the other (Mann and Whitney's test turned
// round, Moses 1965) miss up to five times as often as they say where only one of the two is
// steady; the tests of this package show both.
package stats
