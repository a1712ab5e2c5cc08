// Package handoff is for transports whose calls block: connections of package net, streams
// of a library that has goroutines of its own. Such calls are made by goroutines; the state
// of a module belongs to the loop, and a call from there must not wait. This package has what
// lies between the two.
//
//   - A [Group] is the goroutines of a module. What they find out they bring into the loop,
//     and when the module closes none is left.
//   - A [Link] is a connection of one stream or several, and an [Endpoint] what it is for the
//     message layer: for transports whose connections carry frames as package framing has them.
//     They are made of the following.
//   - A [Queue] is where the frames of one stream wait for the goroutine that writes them. A
//     [Bound] is how many bytes may wait in the queues of one endpoint together; beyond it
//     Send is busy.
//
// A queue copies each frame, so that [btl.Endpoint.Send] is done with it at once and has
// nothing to release or to give back. What arrives is read into memory of the goroutine's and
// shown in the loop; package framing finds the frames in it. That is two copies and two
// wake-ups for what goes through; package btl/tcp shows what it takes to avoid them.
package handoff
