package wire

// Kind says what a frame is for.
type Kind uint8

const (
	Eager      Kind = 1 + iota // a whole message
	Request                    // request to send, perhaps with a first piece
	Clear                      // clear to send: the answer to a request
	Data                       // a piece of a message that was cleared
	Ack                        // acknowledgement and credit, nothing else
	Goodbye                    // nothing more will be sent
	GoodbyeAck                 // goodbye was understood
	Broken                     // another connection was given up
	Probe                      // bytes of no value, to see whether they arrive
	Probed                     // they have
	Kinds                      // the first number that is none
)

// Unnumbered frames are never kept nor sent again.
func (k Kind) Unnumbered() bool { return k == Ack || k >= Goodbye }

// Control frames have no place in a lane.
func (k Kind) Control() bool { return k == Clear || k.Unnumbered() }

// Flags say more of a frame, each kind those that go with it.
type Flags uint8

const (
	FlagAckNow    Flags = 1 << iota // a request completes when this frame is acknowledged
	FlagStarved                     // it would have been sent at once, had there been credit
	FlagCounted                     // the frame has a number and is to be acknowledged
	FlagRefused                     // clear: the receiver leaves, nobody will receive the message
	FlagAwaited                     // clear: the receive was there before the request
	FlagPart                        // a part of a frame's payload; where it belongs stands behind the header
	FlagWithdrawn                   // clear: what was cleared before is void, since the receive has ended
	FlagFar                         // request, starved: it takes a way that may hold much

	FlagUnawaited = FlagFar // ack: a long message that was sent at once found no receive
)

// flagsOf are those that a header of each kind may have.
var flagsOf = [Kinds]Flags{
	Eager:   FlagAckNow | FlagCounted | FlagPart,
	Request: FlagAckNow | FlagCounted | FlagPart | FlagStarved | FlagFar,
	Clear:   FlagAckNow | FlagCounted | FlagRefused | FlagAwaited | FlagWithdrawn,
	Data:    FlagAckNow | FlagCounted | FlagPart,
	Ack:     FlagAckNow | FlagUnawaited,
}
