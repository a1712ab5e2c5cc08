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
	Joined  bool   // it is a program that records, whether or not there was anything
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

// latest is a time after all events, in ns: 73 years.
const latest = math.MaxInt64 / 4

// Read reads what [Contents] has read of a ring. The rank may have been killed at any moment, and may
// be anybody's program: events that make no sense are left out.
func Read(rank int, host string, b []byte) (*Rank, error) {
	if len(b) < atEvents {
		return nil, errNoRing
	}
	size, err := sizeIn(b, MaxSize)
	if err != nil {
		return nil, err
	}
	begun, calendar := int64(binary.LittleEndian.Uint64(b[atHostClock:])), int64(binary.LittleEndian.Uint64(b[atCalendar:]))
	if begun < 0 || begun > latest || calendar < 0 {
		return nil, errNoRing
	}
	r := &Rank{Rank: rank, Host: host, Joined: calendar > 0, Calendar: calendar - begun}
	for _, name := range bytes.SplitAfter(b[atNames:atEvents], []byte{0}) {
		if len(name) == 1 && len(r.Names) > 0 {
			break
		}
		r.Names = append(r.Names, string(bytes.TrimRight(name, "\x00")))
	}
	count, room := binary.LittleEndian.Uint64(b[atCount:]), capacity(size)
	first, have := uint64(0), min(count, room)
	if count > room {
		// The oldest one may have been overwritten in part when the rank was killed.
		first, have = (count+1)%room, have-1
	}
	// Of another host's ranks the end may not have come.
	events := b[atEvents:]
	r.Dropped = count - have
	r.Events = make([]Event, 0, min(have, uint64(len(events)/eventSize)))
	last := int64(math.MinInt64)
	for i := range have {
		at := (first + i) % room * eventSize
		if at+eventSize > uint64(len(events)) {
			r.Dropped++
			continue
		}
		var e Event
		e.get(events[at:])
		if e.Kind == none || e.Kind >= kinds || e.Time < 0 || e.Time < last || e.Time > latest {
			r.Dropped++
			continue
		}
		last = e.Time
		e.Time += begun
		r.Events = append(r.Events, e)
	}
	return r, nil
}
