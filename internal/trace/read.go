package trace

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A Rank is what a rank has recorded.
type Rank struct {
	Rank    int
	Host    string
	Events  []Event // in the order of their times, which are the host's
	Names   []string
	Dropped uint64 // events, the oldest
	// Calendar is what the calendar of the rank's host has said, in ns, when its clock has said 0.
	Calendar int64
}

// Name returns the name of a number.
func (r *Rank) Name(n uint16) string {
	if int(n) < len(r.Names) {
		return r.Names[n]
	}
	return ""
}

// Read reads what [Contents] has read of a ring. The rank may have been killed at any moment, and may
// be anybody's program: events that make no sense are left out.
func Read(rank int, host string, b []byte) (*Rank, error) {
	if len(b) < atEvents || string(b[:len(mark)]) != mark {
		return nil, errNoRing
	}
	size := binary.LittleEndian.Uint64(b[atSize:])
	if size < MinSize || size > MaxSize {
		return nil, errNoRing
	}
	begun := int64(binary.LittleEndian.Uint64(b[atHostClock:]))
	r := &Rank{Rank: rank, Host: host, Calendar: int64(binary.LittleEndian.Uint64(b[atCalendar:])) - begun}
	for _, name := range bytes.SplitAfter(b[atNames:atEvents], []byte{0}) {
		if len(name) == 1 && len(r.Names) > 0 {
			break
		}
		r.Names = append(r.Names, string(bytes.TrimRight(name, "\x00")))
	}
	count, room := binary.LittleEndian.Uint64(b[atCount:]), capacity(int(size))
	events := b[atEvents:]
	have := min(count, room, uint64(len(events)/eventSize))
	first := uint64(0)
	if count > have {
		// The oldest one may have been overwritten in part when the rank was killed.
		first, have = count%room, have-1
		if first++; first >= room {
			first = 0
		}
		r.Dropped = count - have
	}
	r.Events = make([]Event, 0, have)
	last := int64(math.MinInt64)
	for i := range have {
		at := (first + i) % room * eventSize
		if at+eventSize > uint64(len(events)) {
			break
		}
		var e Event
		e.get(events[at:])
		if e.Kind == none || e.Kind >= kinds || e.Time < 0 || e.Time < last || e.Time > math.MaxInt64/4 {
			r.Dropped++
			continue
		}
		last = e.Time
		e.Time += begun
		r.Events = append(r.Events, e)
	}
	return r, nil
}
