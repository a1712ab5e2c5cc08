// Package results is what a comparison of transports leaves behind: every run with all
// that it measured, and all that one has to know to judge it or to do it again. It is
// the contract between the runner, which fills it in, and the report, which
// draws it.
//
// A [Report] has [Variant]s, the transports that are compared, and [Cell]s, each a workload
// with its parameters over one kind of network. In a cell the variants take turns,
// A B C, B C A, C A B; each turn is a [Run].
//
// As a file it is JSON, results.json. [Save] never leaves half of one behind, so it may be
// called after each run. [Load] trusts nothing in a file: whatever it returns is
// within the bounds that [Report.Check] states, and text in it is plain text, free of
// control characters where it is a name; it may still hold markup.
package results
