// Package unixsock is a transport between processes of one Linux host, over
// Unix-domain stream sockets. It lives outside of Strand's own module and shows
// how little a transport needs; importing it registers it as "unix".
//
// It goes the simplest way that keeps the contract of package btl:
//
//   - Package wireup sets up the connections, package framing finds the frames in them.
//   - Package handoff has a goroutine that reads and one that writes for each
//     connection, a blocking one of package net. They never touch the state of a
//     module or endpoint, but bring what they find out into the loop.
//   - Frames are copied into a queue of bounded length, so that Send is done with
//     them at once. A full queue is Busy.
//   - The reader reads more only when what it has read was delivered. So a process
//     that does not look at its messages exerts back-pressure on the senders.
//
// That costs two copies and two wake-ups a frame. How sockets that do not block are used without
// goroutines is in docs/WRITING-A-BTL.md; package btl/tcp shows what it takes to avoid them.
package unixsock
