// Package delivery sees to it that every frame to a peer arrives exactly once, and that
// its sender learns of it exactly once, over lines that may break, be slow, deliver in
// any order or take short frames only (LA-MPI's end-to-end retransmission; the numbers
// and the two kinds of acknowledgements are those of TCP with SACK, RFC 2018).
//
//   - A [Sender] numbers the frames to one peer and holds them in its window until they are
//     acknowledged. What a line had when it broke goes into the replay queue; what is too
//     long for the line that is left goes in parts, under the frame's own number.
//   - A [Receiver] knows which numbers have arrived, says when to acknowledge them, and
//     puts frames together that come in parts or by several ways ([Assembly]).
//   - A [Line] is a connection as delivery sees it: what its transport has taken and not
//     released.
//
// The package is pure. It knows no endpoints, engines or operations, is told the time, and
// calls nobody but the function that it is given. Which line a frame goes over, and what
// an acknowledgement looks like on the wire, is for the message layer.
package delivery
