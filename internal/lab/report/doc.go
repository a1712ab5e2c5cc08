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
// Package stats has them. Two variants are compared round by round, since the runs of a round
// share the moment and the chances of their network. There is a difference where the interval of
// the rounds' median ratio leaves out 1; below six rounds there is no such interval. There is no
// verdict where runs of either side failed, since a bound of time makes the slowest fail. Nor is
// there one where the emulator was late beside the delay that it was to make, or lost frames that
// it should not have lost. The finding says
// how many differences chance alone would show in so many comparisons.
//
// Two comparisons are of two days, and have no rounds in common. So they need a control, a
// transport that is in both with the same parameters. Each variant's ratio to the control now is
// compared with its ratio to the control then ([stats.OfMedians]). Without a control there is no
// verdict.
package report
