// Package stats describes samples of measurements: quantiles, medians with their intervals, and
// by how much one sample exceeds another.
//
// Runs are few, and their shape is not known. Nor need two transports have the same shape: over a
// link that loses frames one may be steady and the other not. So all intervals here lie between
// two of the measured values. How many values may fall on one side of the true median is a matter
// of coins (Thompson 1936), and gives the interval its level. That holds for every distribution,
// with ties too.
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
