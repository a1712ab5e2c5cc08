package programs

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/strandmp/strand"
)

// A Tally counts what has happened in the programs that were run, so that one can
// see that what they are to test did happen.
type Tally struct {
	Sessions, Programs, Messages uint64

	Cancelled uint64 // receives taken back
	TooLate   uint64 // receives that had matched when they were to be taken back
	Probed    uint64 // messages seen by a probe
	Taken     uint64 // messages taken by a matched probe
	Truncated uint64 // messages longer than their receive
	NoBuffer  uint64 // buffered sends for which there was no room
	Floods    uint64 // of buffered sends
	Left      uint64 // calls that ended with their context
	Blocking  uint64 // collective calls that block
	Alone     uint64 // collective calls that went on by themselves
	OverGrids uint64 // collective calls of grids, most of them over neighbours
	Scattered uint64 // messages whose memory a layout picks, at one end
	Again     uint64 // starts of persistent operations that had been started before
	UnderWay  uint64 // refused ones, since the operation was under way
	Exchanges uint64 // messages that came in where another one was sent from
	Beside    uint64 // waits by several goroutines of a rank at the same time
	Mixed     uint64 // waits for collective calls together with messages
	Agreed    uint64 // agreements
	Revoked   uint64 // communicators whose collective calls a member has ended

	// What the message layer has counted (strand.Stats).
	Held, Released, Overtaken, Unexpected, Demoted, Cut uint64
}

// Add adds other to t.
func (t *Tally) Add(other Tally) {
	sum, more := reflect.ValueOf(t).Elem(), reflect.ValueOf(other)
	for i := range sum.NumField() {
		sum.Field(i).SetUint(sum.Field(i).Uint() + more.Field(i).Uint())
	}
}

func (t *Tally) stats(s strand.Stats) {
	t.Add(Tally{Held: s.Held, Released: s.Released, Overtaken: s.Overtaken, Unexpected: s.Unexpected, Demoted: s.Demoted, Cut: s.Truncated})
}

// Zeros names the counts that are zero.
func (t *Tally) Zeros() []string {
	var names []string
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		if v.Field(i).Uint() == 0 {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

func (t *Tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d programs in %d sessions, %d messages: ", t.Programs, t.Sessions, t.Messages)
	fmt.Fprintf(&b, "%d held back, %d of them released by a cancel or another sender's message, %d overtaken, %d unexpected, %d demoted for want of credit, %d truncated; ",
		t.Held, t.Released, t.Overtaken, t.Unexpected, t.Demoted, t.Cut)
	fmt.Fprintf(&b, "%d receives taken back and %d not, %d probes, %d matched probes, %d buffered sends without room, %d floods of them, %d calls that ended with their context, %d collective calls, %d that went on by themselves, %d of grids, "+
		"%d buffers with layouts, %d persistent operations started again and %d refused, %d exchanges, %d waits by several goroutines, %d waits for collective calls and messages together, %d agreements, %d communicators revoked",
		t.Cancelled, t.TooLate, t.Probed, t.Taken, t.NoBuffer, t.Floods, t.Left, t.Blocking, t.Alone, t.OverGrids, t.Scattered, t.Again, t.UnderWay, t.Exchanges, t.Beside, t.Mixed, t.Agreed, t.Revoked)
	return b.String()
}
