// Package stack is the seam between the sctp transport and what speaks SCTP for
// it: the kernel, or a stack in user space over UDP.
//
// A [Stack] has its sockets open and makes associations. An [Association] carries
// messages to one peer on numbered streams. It tells its [Handler] what arrives and
// what becomes of the association. The rest is the transport's business, above the
// seam: who the peer is, what the messages mean, which stream serves which lane, and
// who gives way when two connect at once.
//
// # Calls
//
// All is serial under the progress engine, as package btl has it. A stack calls
// handlers and [Config].Accept only from within [Stack.Progress], [Stack.Linger],
// [Association.Poll] and what it has given to the loop (watches, timers, posted
// functions). A handler may call any method of any association from any of its
// calls, Abort of its own association too. No call but Linger blocks.
//
// # Messages
//
// A message belongs to one stream and has a payload protocol identifier. It is
// taken whole or not at all. It arrives whole, once, and in the order of its
// stream; streams do not wait for each other. It may be handed over in pieces, with
// pieces of other streams' messages in between.
//
// A stack copies what it is given: nothing of a message is needed after Send.
package stack
