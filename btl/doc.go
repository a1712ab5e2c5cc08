// Package btl is the contract between the message layer (PML) and the
// transports below it, the byte transfer layers.
//
// A [Component] is a kind of transport ("tcp"). Opened, it yields zero or more
// [Module] values, each of which reaches peers over [Path] values. Connecting a
// path gives an [Endpoint]: one peer over one path. The PML hands an endpoint
// [Frame] values; the endpoint hands what arrives to its [Receiver], which the
// PML implements, one for each endpoint.
//
// # Threads
//
// Everything in this package is serial per process: the host calls a module,
// its endpoints and their handlers one at a time, and a module calls a Receiver
// or its [Host] only from within such a call. A module that has goroutines of
// its own brings their results in by [Loop.Post]: it and [Host.Logf] alone may be
// called by any goroutine. A call must not block.
//
// What moves more than [LongMove] bytes, a system call or a copy, is not made in such a call. The
// module gives the loop a [Mover] for it ([Loop.Move]). The loop has that move the bytes without its
// lock, and other calls of the module may come meanwhile. What the Mover uses is pinned until then.
//
// A module must not call a Receiver from within [Endpoint.Send]: the PML is in
// the middle of its own work there. Send reports by its result; anything else is
// reported from the next [Handler.Poll], [Module.Progress] or posted function.
//
// A Receiver may call Send, Close, Abort and Recall of any endpoint, its own too,
// and Connect, from any up-call; so may [Host.Accept]. A module that makes an
// up-call must therefore look at its own state anew afterwards.
//
// # Memory
//
// A frame given to Send is the transport's until the transport gives it back: at
// once, by returning [Done], or later, by [Receiver.Released], if it returned
// [Taken]. A frame that was not taken stays the caller's. The payload that
// [Receiver.Deliver] shows belongs to the transport and is valid during the
// call. The pieces of a [Landing] belong to the receiver's side. A transport
// asks for the next piece each time it is about to write and never keeps one
// across calls: the owner may revoke the landing place in between. A [Mover] pins it
// ([Landing.Pin]), and the owner then waits.
package btl
