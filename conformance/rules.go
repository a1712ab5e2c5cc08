package conformance

// A rule is a sentence of the contract in package btl.
type rule struct {
	name string
	text string
}

var (
	ruleAttributes = rule{"attributes", "What a module says of itself is within the bounds of btl.Attr, btl.Path and btl.Module, and does not change."}
	ruleOpen       = rule{"open", "Open returns modules, or the reason why there is none; Close returns no error when nothing is wrong."}
	ruleReach      = rule{"reach", "Reach lists paths, best first, numbered from 0, or says why there is none; an address is input from outside and never trusted."}
	ruleLazy       = rule{"lazy", "An endpoint connects on the first Send, not before."}
	ruleUp         = rule{"up", "Up comes once for each connection, before any frame, with what the peer's Host.Hello returned."}
	ruleAccept     = rule{"accept", "Accept tells the module, the rank that the peer has proved to be, its hello, and the endpoint."}
	ruleStaysUp    = rule{"stays-up", "An endpoint goes down only for a reason."}
	ruleIntact     = rule{"intact", "A frame arrives as it was sent: the same header, the same payload, byte by byte."}
	ruleOnce       = rule{"once", "A frame is delivered at most once, and only if it was taken."}
	ruleReliable   = rule{"reliable", "A frame taken by an endpoint of a Reliable module is delivered unless the endpoint goes down."}
	ruleOrdered    = rule{"ordered", "An Ordered module delivers the frames of one lane of one endpoint in the order of Send."}
	ruleAddressed  = rule{"addressed", "A frame reaches the receiver of an endpoint to the rank that sent it."}
	ruleReleased   = rule{"released", "Released is called exactly once for each frame that was Taken, and never for one that was Done, Busy or Broken."}
	ruleLocal      = rule{"local", "A Local module releases a frame only when the peer's Receiver has had it whole."}
	ruleLent       = rule{"lent", "A frame's header, payload and Owner are lent: a transport writes to Next and Progress only, and to nothing after the release."}
	ruleResult     = rule{"result", "Send returns Busy, Taken, Done or Broken, and each means what it says."}
	ruleWritable   = rule{"writable", "After Busy, Writable follows once the endpoint can take a frame again."}
	ruleBounded    = rule{"bounded", "An endpoint whose peer does not read becomes Busy: no queue grows without bound."}
	ruleBroken     = rule{"broken", "After Broken, Down follows unless it was called already."}
	ruleSerial     = rule{"serial", "A module calls its Receivers, its Host and the Loop (but for Post) one at a time, and only from within a call of the host or of its loop."}
	ruleSendQuiet  = rule{"send-quiet", "Send makes no up-call."}
	ruleNoBlock    = rule{"no-block", "No call blocks."}
	ruleNoPanic    = rule{"no-panic", "A transport never panics, whatever arrives."}
	ruleAtOnce     = rule{"at-once", "A lone frame goes at once; one that is held back goes with the next poll, or with Flush."}
	rulePoller     = rule{"poller", "Poll of an endpoint reads what is there and says whether anything was."}
	ruleCounters   = rule{"counters", "Counters count each frame and each byte, and Queued what is still to go."}
	ruleLanding    = rule{"landing", "After Begin exactly one End or Drop follows; End means that nothing is left to come."}
	ruleGuard      = rule{"guard", "A transport writes to what Landing.Next returned, and to no other byte."}
	ruleRevoke     = rule{"revoke", "A landing's memory is asked for each time: once revoked or ended it is not written to."}
	ruleRefusal    = rule{"refusal", "An error from Deliver, Begin or End ends the connection as any other damage does."}
	ruleDownOnce   = rule{"down-once", "Down is called once and is the last up-call, but for Up if the transport reconnects at the next Send."}
	ruleDownError  = rule{"down-error", "Down says what happened: ErrPeerClosed after an orderly end and only then, else an error that names rank and peer."}
	ruleNoticed    = rule{"noticed", "An endpoint whose peer is gone goes down, in bounded time."}
	ruleGoodbye    = rule{"goodbye", "What was taken before Close is sent if that is possible without blocking for long, and the peer learns of the orderly end."}
	ruleClosed     = rule{"closed", "After Close no up-call is made, and Send returns Broken."}
	ruleHarmless   = rule{"harmless", "What strangers send harms nobody, and damage to one connection harms only that one."}
	ruleClean      = rule{"clean", "A closed module leaves nothing behind: no goroutine, descriptor, watch, timer or memory."}
)
