package stream

import (
	"encoding/binary"
	"fmt"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A Violation says what a peer has done that it must not do.
type Violation struct {
	// Cause is the RFC's, for the ABORT or the ERROR (RFC 9260, section 3.3.10).
	Cause uint16
	// Info is the value of the cause; nil: it has none, or may be left without.
	Info []byte
	// Fatal says that the association is to be aborted. If it is not, the peer is told by an ERROR, and the
	// chunk counts as arrived.
	Fatal bool
	// Stream, TSN and What are for people.
	Stream uint16
	TSN    uint32
	What   string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("stream %d, TSN %d: %s", v.Stream, v.TSN, v.What)
}

func violation(d *chunk.Data, what string) *Violation {
	return &Violation{Cause: chunk.CauseViolation, Fatal: true, Stream: d.Stream, TSN: d.TSN, What: what}
}

// noStream is RFC 9260, section 3.3.10.1: the stream, and two bytes that are reserved.
func noStream(d *chunk.Data, streams int) *Violation {
	v := violation(d, fmt.Sprintf("there are only %d streams", streams))
	v.Cause, v.Fatal = chunk.CauseInvalidStream, false
	v.Info = binary.BigEndian.AppendUint16(nil, d.Stream)
	v.Info = append(v.Info, 0, 0)
	return v
}

// noData is RFC 9260, section 3.3.10.9: the TSN.
func noData(d *chunk.Data) *Violation {
	v := violation(d, "data without a byte")
	v.Cause = chunk.CauseNoUserData
	v.Info = binary.BigEndian.AppendUint32(nil, d.TSN)
	return v
}

func noMemory(d *chunk.Data, held int) *Violation {
	v := violation(d, fmt.Sprintf("%d bytes are held, and none of them can be handed over", held))
	v.Cause = chunk.CauseOutOfResource
	return v
}
