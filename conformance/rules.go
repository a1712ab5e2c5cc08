package conformance

import "slices"

// A Rule is a sentence of the contract that every case holds a transport to.
type Rule struct {
	Name string
	// Text is the rule in words.
	Text string
	// Source is where the contract says so: what of package btl, or which page.
	Source string
}

// Rules are all of them.
func Rules() []Rule { return slices.Clone(rules) }

// rules are all of them, in the order of their declaration.
var rules []Rule

func newRule(name, source, text string) Rule {
	r := Rule{Name: name, Text: text, Source: source}
	rules = append(rules, r)
	return r
}

var (
	ruleAttributes = newRule("attributes", "btl.Attr, btl.Path, btl.Module", "What a module says of itself is within the bounds of btl.Attr, btl.Path and btl.Module, and does not change.")
	ruleOpen       = newRule("open", "btl.Component, btl.Module", "Open returns modules, or the reason why there is none; Close returns no error when nothing is wrong.")
	ruleReach      = newRule("reach", "btl.Module", "Reach lists paths, best first, numbered from 0, or says why there is none; an address is input from outside and never trusted.")
	ruleLazy       = newRule("lazy", "btl.Module", "An endpoint connects on the first Send, not before.")
	ruleUp         = newRule("up", "btl.Receiver", "Up comes once for each connection, before any frame, with what the peer's Host.Hello returned.")
	ruleProof      = newRule("proof", "btl.Host", "Only processes of one job connect to each other: each proves that it knows the secret, and that it has the key which the two ranks share, before it is accepted, or believed to be up.")
	ruleDiscreet   = newRule("discreet", "btl.Host", "What is secret is shown to nobody: neither the job's secret nor a key that two ranks share stands in an address, in a description, in an error or in a line of log.")
	ruleAccept     = newRule("accept", "btl.Host", "Accept tells the module, the rank that the peer has proved to be, its hello, and the endpoint.")
	ruleStaysUp    = newRule("stays-up", "btl.Receiver", "An endpoint goes down only for a reason.")
	ruleInTime     = newRule("in-time", "btl.ConnError", "An endpoint gives up connecting for want of an answer only when a limit of its own is over, and not before a peer that is held up for a moment can answer; the error's method Timeout says so.")
	ruleIntact     = newRule("intact", "btl.Attr", "A frame arrives as it was sent: the same header, the same payload, byte by byte.")
	ruleOnce       = newRule("once", "btl.Attr", "A frame is delivered at most once, and only if it was taken.")
	ruleReliable   = newRule("reliable", "btl.Attr", "A frame taken by an endpoint of a Reliable module is delivered unless the endpoint goes down.")
	ruleOrdered    = newRule("ordered", "btl.Attr", "An Ordered module delivers the frames of one lane of one endpoint in the order of Send.")
	ruleAddressed  = newRule("addressed", "btl.Endpoint", "A frame reaches the receiver of an endpoint to the rank that sent it.")
	ruleReleased   = newRule("released", "btl.Receiver", "Released is called exactly once for each frame that was Taken, and never for one that was Done, Busy or Broken.")
	ruleConfirms   = newRule("confirms", "btl.Attr", "A module that Confirms releases a frame only when the peer's Receiver has had it whole.")
	ruleLent       = newRule("lent", "btl.Frame", "A frame's header, payload and Owner are lent: a transport writes to Next and Progress only, and to nothing after the release.")
	ruleResult     = newRule("result", "btl.Result", "Send returns Busy, Taken, Done or Broken, and each means what it says.")
	ruleWritable   = newRule("writable", "btl.Receiver", "After Busy, Writable follows once the endpoint can take a frame again.")
	ruleBounded    = newRule("bounded", "btl.Result", "An endpoint whose peer does not read becomes Busy: no queue grows without bound.")
	ruleBroken     = newRule("broken", "btl.Result", "After Broken, Down follows unless it was called already.")
	ruleSerial     = newRule("serial", "package btl, Threads", "A module calls its Receivers, its Host (but for Logf) and the Loop (but for Post) one at a time, and only from within a call of the host or of its loop.")
	ruleSendQuiet  = newRule("send-quiet", "package btl, Threads", "Send makes no up-call.")
	ruleNoBlock    = newRule("no-block", "package btl, Threads", "No call blocks.")
	ruleNoPanic    = newRule("no-panic", "docs/ARCHITECTURE.md, Security", "A transport never panics, whatever arrives.")
	ruleAtOnce     = newRule("at-once", "btl.Endpoint, btl.Flusher", "A lone frame goes at once; one that is held back goes with the next poll, or with Flush.")
	rulePoller     = newRule("poller", "btl.Poller", "Poll of an endpoint reads what is there and says whether anything was.")
	ruleRest       = newRule("rest", "btl.Module, btl.Poller, btl.Handler", "Progress, Poll and handlers say that they did nothing where there was nothing to do; otherwise a process that waits never sleeps.")
	ruleCounters   = newRule("counters", "btl.Counters, btl.Flusher", "Counters count each frame and each byte, and Queued what is still to go.")
	ruleLanding    = newRule("landing", "btl.Receiver", "After Begin exactly one End or Drop follows; End means that nothing is left to come.")
	ruleGuard      = newRule("guard", "package btl, Memory", "A transport writes to what Landing.Next returned, and to no other byte.")
	ruleRevoke     = newRule("revoke", "package btl, Memory", "A landing's memory is asked for each time: once revoked or ended it is not written to.")
	ruleRecall     = newRule("recall", "btl.Recaller", "Recall lets go of every frame at once: none is read or released afterwards, what was begun is finished from a copy, and the connection goes on with what follows.")
	ruleKept       = newRule("kept", "btl.Keeper, btl.Saver", "What a Keeper has passed on can be read again, byte by byte, until the peer's Receiver has had it, and nothing else is taken for it afterwards; Save comes once before it goes away, however the connection ends.")
	ruleRefusal    = newRule("refusal", "btl.Receiver", "An error from Deliver, Begin or End ends the connection as any other damage does.")
	ruleDownOnce   = newRule("down-once", "btl.Receiver", "Down is called once and is the last up-call, but for Up if the transport reconnects at the next Send.")
	ruleDownError  = newRule("down-error", "btl.Receiver, btl.ConnError", "Down says what happened: ErrPeerClosed after an orderly end and only then, else an error that names rank and peer.")
	ruleNoticed    = newRule("noticed", "btl.Receiver", "An endpoint whose peer is gone goes down, in bounded time.")
	ruleGoodbye    = newRule("goodbye", "btl.Endpoint", "What was taken before Close is sent if that is possible without blocking for long, and the peer learns of the orderly end.")
	ruleClosed     = newRule("closed", "btl.Endpoint", "After Close no up-call is made, and Send returns Broken.")
	ruleHarmless   = newRule("harmless", "docs/ARCHITECTURE.md, Security", "What strangers send harms nobody, and damage to one connection harms only that one.")
	ruleClean      = newRule("clean", "btl.Module", "A closed module leaves nothing behind: no goroutine, descriptor, watch, timer or memory.")
)
