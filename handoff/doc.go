// Package handoff is for transports whose calls block: connections of package net, streams
// of a library that has goroutines of its own. Such calls are made by goroutines; the state
// of a module belongs to the loop, and a call from there must not wait. This package has what
// lies between the two.
//
//   - A [Group] is the goroutines of a module. They bring what they find out into the loop.
//     When the module closes none is left.
//   - A [Link] is a connection of one stream or several, and an [Endpoint] is its side to the
//     message layer. They are for transports whose connections carry frames in the form of
//     package framing. Both are built on the following.
//   - A [Queue] is where the frames of one stream wait for the goroutine that writes them. A
//     [Bound] is how many bytes may wait in the queues of one endpoint together; beyond it
//     Send is busy.
//
// A queue copies each frame, so that [btl.Endpoint.Send] is done with it at once and has
// nothing to release or to give back. The goroutine that reads has memory of its own. What it has
// read is shown in the loop, where package framing finds the frames. So each frame costs two
// copies and two wake-ups; package btl/tcp shows what it takes to avoid them.
package handoff
