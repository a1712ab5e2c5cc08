// Package borrowing reads memory of other processes of the host (process_vm_readv), if the system lets it. Linux only.
//
// A process that lets others read leaves a mark for them: a number that nobody can guess, and where it is. Who reads reads the mark too, and so
// knows whose memory that was: a process may have ended, and another one have its number.
package borrowing
