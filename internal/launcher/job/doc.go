// Package job runs a job, as "strand run" does: it starts the ranks, serves PMI-1 to them, forwards
// their output line by line, and ends what is left when one of them fails.
//
// Ranks run on this host (package local) or on several, each of which is reached by a remote shell
// (package remote).
//
// The launcher goes on whether or not anybody reads its output. It does not take a terminal's
// input while it is in the background.
//
// Only Strand itself imports this package. It changes with any version.
package job
