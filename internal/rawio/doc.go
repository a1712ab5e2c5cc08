// Package rawio does non-blocking socket I/O without Go's poller.
//
// A socket made here is never registered in the runtime's epoll or kqueue set:
// the progress engine has a set of its own, and a spinning reader that also
// woke the runtime's poller would be two to four times slower. On Linux (386,
// amd64, arm, arm64, riscv64) the calls of the data path are made with RawSyscall,
// since the scheduler need not know of a call that can not block; they allocate
// nothing. Elsewhere they go through golang.org/x/sys/unix. On the data path an
// errno says all there is to say; no error value is made.
//
// The race detector is told of every transfer of a [Conn]: of the kernel's reads
// and writes of the buffers, and of the order that a message on a connection
// establishes between two ranks of one test process.
package rawio
