// Package report draws the results of a comparison: a table for the terminal that can
// be redrawn while the comparison runs ([WriteTable], [Live]), a page with plots that
// needs nothing but a browser ([WritePage]), one sentence of finding ([Finding]), and two
// comparisons side by side ([WriteBaseline]).
//
// What it is given may come from a file that anyone has written: it draws text as
// text, and whatever passes [results.Report.Check] can be drawn.
//
// # Statistics
//
// Package stats has them. Two variants are compared round by round, since a round's runs have the
// chances of their network and the moment in common. A difference is one where
// the interval of the rounds' median ratio leaves out 1; below six rounds there is none. Where runs of either side
// failed there is no verdict, since a bound of time makes the slowest fail, and none where
// the emulator was late beside the delay it was to make; and the finding says
// how many differences chance alone would show in so many comparisons.
//
// Two comparisons are of two days, and have no rounds in common: each variant's ratio to a control, a
// transport that is in both with the same parameters, is compared with its ratio to it then
// ([stats.OfMedians]). Without a control there is no verdict.
package report
