package conformance

// A rule is a sentence of the contract in package btl.
type rule struct {
	name string
	text string
}

// A Rule is a sentence of the contract that every case holds a transport to.
type Rule struct{ Name, Text string }

// Rules are all of them.
func Rules() []Rule {
	all := make([]Rule, len(rules))
	for i, r := range rules {
		all[i] = Rule{r.name, r.text}
	}
	return all
}

// rules are all of them.
var rules []rule

func newRule(name, text string) rule {
	r := rule{name, text}
	rules = append(rules, r)
	return r
}

var (
	ruleAttributes = newRule("attributes", "What a module says of itself is within the bounds of btl.Attr, btl.Path and btl.Module, and does not change.")
	ruleOpen       = newRule("open", "Open returns modules, or the reason why there is none; Close returns no error when nothing is wrong.")
	ruleReach      = newRule("reach", "Reach lists paths, best first, numbered from 0, or says why there is none; an address is input from outside and never trusted.")
	ruleLazy       = newRule("lazy", "An endpoint connects on the first Send, not before.")
	ruleUp         = newRule("up", "Up comes once for each connection, before any frame, with what the peer's Host.Hello returned.")
	ruleProof      = newRule("proof", "Only processes of one job connect to each other: each proves that it knows the secret before it is accepted, or believed to be up.")
	ruleAccept     = newRule("accept", "Accept tells the module, the rank that the peer has proved to be, its hello, and the endpoint.")
	ruleStaysUp    = newRule("stays-up", "An endpoint goes down only for a reason.")
	ruleIntact     = newRule("intact", "A frame arrives as it was sent: the same header, the same payload, byte by byte.")
	ruleOnce       = newRule("once", "A frame is delivered at most once, and only if it was taken.")
	ruleReliable   = newRule("reliable", "A frame taken by an endpoint of a Reliable module is delivered unless the endpoint goes down.")
	ruleOrdered    = newRule("ordered", "An Ordered module delivers the frames of one lane of one endpoint in the order of Send.")
	ruleAddressed  = newRule("addressed", "A frame reaches the receiver of an endpoint to the rank that sent it.")
	ruleReleased   = newRule("released", "Released is called exactly once for each frame that was Taken, and never for one that was Done, Busy or Broken.")
	ruleLocal      = newRule("local", "A Local module releases a frame only when the peer's Receiver has had it whole.")
	ruleLent       = newRule("lent", "A frame's header, payload and Owner are lent: a transport writes to Next and Progress only, and to nothing after the release.")
	ruleResult     = newRule("result", "Send returns Busy, Taken, Done or Broken, and each means what it says.")
	ruleWritable   = newRule("writable", "After Busy, Writable follows once the endpoint can take a frame again.")
	ruleBounded    = newRule("bounded", "An endpoint whose peer does not read becomes Busy: no queue grows without bound.")
	ruleBroken     = newRule("broken", "After Broken, Down follows unless it was called already.")
	ruleSerial     = newRule("serial", "A module calls its Receivers, its Host and the Loop (but for Post) one at a time, and only from within a call of the host or of its loop.")
	ruleSendQuiet  = newRule("send-quiet", "Send makes no up-call.")
	ruleNoBlock    = newRule("no-block", "No call blocks.")
	ruleNoPanic    = newRule("no-panic", "A transport never panics, whatever arrives.")
	ruleAtOnce     = newRule("at-once", "A lone frame goes at once; one that is held back goes with the next poll, or with Flush.")
	rulePoller     = newRule("poller", "Poll of an endpoint reads what is there and says whether anything was.")
	ruleCounters   = newRule("counters", "Counters count each frame and each byte, and Queued what is still to go.")
	ruleLanding    = newRule("landing", "After Begin exactly one End or Drop follows; End means that nothing is left to come.")
	ruleGuard      = newRule("guard", "A transport writes to what Landing.Next returned, and to no other byte.")
	ruleRevoke     = newRule("revoke", "A landing's memory is asked for each time: once revoked or ended it is not written to.")
	ruleRefusal    = newRule("refusal", "An error from Deliver, Begin or End ends the connection as any other damage does.")
	ruleDownOnce   = newRule("down-once", "Down is called once and is the last up-call, but for Up if the transport reconnects at the next Send.")
	ruleDownError  = newRule("down-error", "Down says what happened: ErrPeerClosed after an orderly end and only then, else an error that names rank and peer.")
	ruleNoticed    = newRule("noticed", "An endpoint whose peer is gone goes down, in bounded time.")
	ruleGoodbye    = newRule("goodbye", "What was taken before Close is sent if that is possible without blocking for long, and the peer learns of the orderly end.")
	ruleClosed     = newRule("closed", "After Close no up-call is made, and Send returns Broken.")
	ruleHarmless   = newRule("harmless", "What strangers send harms nobody, and damage to one connection harms only that one.")
	ruleClean      = newRule("clean", "A closed module leaves nothing behind: no goroutine, descriptor, watch, timer or memory.")
)
