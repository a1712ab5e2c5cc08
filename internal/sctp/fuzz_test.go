package sctp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// FuzzReceive has an association take whatever chunks come with its tag. It never panics, keeps no more than it may,
// and answers a packet by one at the most.
func FuzzReceive(f *testing.F) {
	seeds := [][]byte{
		chunk.AppendSACK(nil, 1, 1<<16, []chunk.Gap{{First: 2, Last: 3}}, nil),
		chunk.AppendNumber(nil, chunk.TypeShutdown, 1),
		cause(chunk.TypeHeartbeat, chunk.ParamHeartbeat, []byte("something")),
		cause(chunk.TypeError, chunk.CauseUnrecognizedChunk, []byte("something")),
		cause(chunk.TypeAbort, chunk.CauseUser, []byte("something")),
		chunk.Append(nil, chunk.TypeCookieAck, 0, nil),
		initChunk(chunk.TypeInit, 5),
		initChunk(chunk.TypeInitAck, 5),
		chunk.AppendForward(nil, chunk.TypeForward, 5, []chunk.Skipped{{Stream: 1, Message: 2}}),
	}
	for i, s := range seeds {
		f.Add(uint8(i), uint8(3), s, seeds[(i+1)%len(seeds)])
	}
	_, u := stuck(f, Established)
	for i := range uint32(4) {
		d := chunk.Data{TSN: u.a.peerTSN + i, Stream: uint16(i), Flags: chunk.FlagBegin, PPID: 7}
		b := chunk.AppendData(nil, &d, content(1, 0, 16), nil)
		d.TSN++
		f.Add(uint8(i), uint8(3), b, chunk.AppendData(nil, &d, content(1, 0, 16), nil))
	}
	f.Fuzz(func(t *testing.T, times, state uint8, first, second []byte) {
		_, u := stuck(t, State(state%7)+CookieWait)
		before := u.n.w.tap
		packets := 0
		u.n.w.tap = func(d datagram) bool { packets++; return before(d) }
		u.a.owner = silent{u}
		for i := range int(times) {
			c := first
			if i%2 == 1 {
				c = second
			}
			if len(c) < 4 || len(c) > 1400 || len(c)%4 != 0 || u.a.state == Closed {
				return
			}
			packets = 0
			u.inject(0, c)
			// A sound is made once, as the association is established; what was lost is sent again.
			require.LessOrEqual(t, packets, 2+u.sent)
			if u.a.in != nil {
				require.LessOrEqual(t, u.a.in.Held(), 2*strangerWindow)
			}
			for j := range u.a.paths {
				p := &u.a.paths[j]
				require.LessOrEqual(t, cap(p.answer)+cap(p.report), 8<<10)
			}
			require.LessOrEqual(t, u.a.Paths(), mostAddresses)
			u.n.w.now += time.Millisecond
		}
	})
}

// silent takes whatever it is handed.
type silent struct{ *user }

func (silent) Receive(uint16, uint32, []byte, bool) {}
