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
// Runs are few and their times have long tails, so nothing here assumes a
// distribution. A median's interval is between two of the runs, by the binomial distribution
// (Thompson 1936): with five runs, from the least to the largest, it has the true median
// in it with a chance of 94 %. A ratio is the median of the ratios of all pairs of runs,
// one of each variant (Hodges and Lehmann 1963), with the interval that belongs to the
// test of Mann and Whitney (Moses 1965): it takes for granted only that one
// variant's times are a multiple of the other's, and is at 97 % with five runs of each.
// A difference is one where the ratio's interval leaves out 1. Where runs of either side
// failed there is no verdict, since a bound of time makes the slowest fail; and the finding says
// how many differences chance alone would show in so many comparisons.
package report
