// Package calls draws collective calls of the public interface, those of views and over grids among them, makes them, blocking or such that they go on by themselves, and
// compares what they give with a sequential model: what one process would compute that had the values of all.
//
// Only tests of Strand itself import this package. It is no promise: it changes with any version.
package calls
