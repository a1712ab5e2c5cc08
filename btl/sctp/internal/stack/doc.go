// Package stack is the seam between the sctp transport and what speaks SCTP for
// it: the kernel, or a stack in user space over UDP.
//
// A [Stack] has its sockets open and makes associations; an [Association] carries
// messages to one peer on numbered streams. What arrives, and what becomes of the
// association, it tells its [Handler]. Who the peer is, what the messages mean,
// which stream serves which lane and who gives way when two connect at once is
// the transport's business, above the seam.
//
// # Calls
//
// All is serial under the progress engine, as package btl has it. A stack calls
// handlers, and [Config].Accept, from within [Stack.Progress], [Association.Poll]
// and what it has given to the loop (watches, timers, posted functions) only:
// never from within a call of another method. A handler may call any method of
// any association from any of its calls, Abort of its own too. No call blocks.
//
// # Messages
//
// A message belongs to one stream and has a payload protocol identifier. It is
// taken whole or not at all, and arrives whole, once, and in the order of its
// stream; streams do not wait for each other. It may be handed over in pieces,
// between which come pieces of other streams' messages.
//
// A stack copies what it is given: nothing of a message is needed after Send.
package stack
