package handshake

// Attempt is what [Settle] has to know of our own side.
type Attempt uint8

const (
	Idle     Attempt = iota // nothing under way
	Dialling                // an attempt of ours
	Dialled                 // a connection that we have opened
	Accepted                // a connection that the peer has opened
)

// Decision is what [Settle] says of a connection.
type Decision uint8

const (
	Accept  Decision = iota // it becomes the connection; our attempt is given up
	Replace                 // it takes the place of an older connection
	Hold                    // it waits for our attempt to end
	Refuse                  // the peer is told that there is one already
)

// Settle decides about an incoming connection that has proved itself. Ours and
// theirs are the ranks, epoch that of our attempt or connection if there is one.
//
// Of two attempts at once the lower rank's wins, unless the peer knows of it: then the peer
// had accepted it, and has lost that connection. A connection that the peer has
// opened gives way to any later attempt of the peer's, since the peer has given up
// the older. A connection that we have opened gives way only if the peer knows of
// it: then the peer must have lost it. Otherwise the attempt has crossed ours.
func Settle(ours, theirs int, at Attempt, epoch uint32, r Request) Decision {
	switch at {
	case Dialling:
		if ours < theirs && r.Known < epoch {
			return Hold
		}
	case Dialled:
		if r.Known < epoch {
			return Refuse
		}
		return Replace
	case Accepted:
		if r.Epoch <= epoch {
			return Refuse
		}
		return Replace
	}
	return Accept
}
