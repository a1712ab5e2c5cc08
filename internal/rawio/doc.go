// Package rawio does non-blocking socket I/O without Go's poller.
//
// A socket made here is never registered in the runtime's epoll or kqueue set:
// the progress engine has a set of its own, and a spinning reader that also
// woke the runtime's poller would be two to four times slower. On Linux the
// calls of the data path are made with RawSyscall, which does not tell the
// scheduler about a call that can not block; elsewhere they go through
// golang.org/x/sys/unix. No call allocates on Linux, and none returns an error
// value on the data path: an errno says all there is to say.
//
// Under the race detector every transfer is made known: the kernel's reads and
// writes of the buffers, and the order that a message on a connection
// establishes between two ranks of one test process.
package rawio
