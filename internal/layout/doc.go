// Package layout describes which bytes of a piece of memory a message consists of, and in which order: MPI's derived
// types (MPI 4.1, chapter 5), in bytes.
//
// A [Layout] is a tree of runs, of what is repeated at a distance, and of what follows each other. A regular layout is as
// small as its description, however many blocks it has: it is walked, and never listed. [Layout.Pack] and [Layout.Unpack]
// copy any part of a message, so that a long one is packed in pieces; [Layout.Run] finds memory that needs no copy.
//
// The package is pure. Layouts do not change once they are made, and any number of goroutines may use them.
package layout
