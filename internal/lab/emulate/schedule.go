package emulate

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Schedule says when a network is down. What hosts send meanwhile is lost, and nobody is told;
// what is on its way arrives. Times count from the start of the network. The zero value is always
// up.
type Schedule struct {
	// Outages are in the order of time, with time between them.
	Outages []Outage `json:"outages,omitzero"`
	// Every is when the schedule begins anew, again and again; 0: once is all.
	Every time.Duration `json:"every,omitzero"`
}

// An Outage begins at a time and takes a time.
type Outage struct {
	At  time.Duration `json:"at"`
	For time.Duration `json:"for"`
}

// Bounds of a schedule.
const (
	MaxOutages  = 64
	maxSchedule = 24 * time.Hour
)

// end is when an outage is over.
func (o Outage) end() time.Duration { return o.At + o.For }

// Check returns what is wrong with a schedule.
func (s Schedule) Check() error {
	if len(s.Outages) > MaxOutages {
		return fmt.Errorf("%d outages: want at most %d", len(s.Outages), MaxOutages)
	}
	before := time.Duration(-1)
	for _, o := range s.Outages {
		switch {
		case o.At < 0 || o.For <= 0 || o.At > maxSchedule || o.For > maxSchedule:
			return fmt.Errorf("down at %v for %v: want a start of 0 or more and a length above 0, of at most %v", o.At, o.For, maxSchedule)
		case o.At <= before:
			return fmt.Errorf("down at %v: the outage before it lasts until %v; want them in the order of time, with time between them", o.At, before)
		}
		before = o.end()
	}
	switch {
	case s.Every != 0 && len(s.Outages) == 0:
		return errors.New("every: there is no outage that could come again; say when the network is down, too")
	case s.Every < 0 || s.Every > maxSchedule || s.Every > 0 && before >= s.Every:
		return fmt.Errorf("every %v: want more than %v, when the last outage is over, and at most %v", s.Every, before, maxSchedule)
	}
	return nil
}

// Down reports whether the network is down at a time, and until when that stays so: [Never] if it
// does not change any more.
func (s Schedule) Down(at time.Duration) (down bool, until time.Duration) {
	first := time.Duration(0) // of this turn of the schedule
	if s.Every > 0 {
		first = at / s.Every * s.Every
	}
	for _, o := range s.Outages {
		switch {
		case at-first < o.At:
			return false, first + o.At
		case at-first < o.end():
			return true, first + o.end()
		}
	}
	if s.Every > 0 {
		return false, first + s.Every + s.Outages[0].At
	}
	return false, Never
}

// Never is after any time.
const Never = time.Duration(1<<63 - 1)

// maxSpans bounds what is told of a network that was down again and again.
const maxSpans = 256

// Until returns the outages of a network that ended at a time, where the last one is cut off. It
// returns no more than the first 256.
func (s Schedule) Until(end time.Duration) []Outage {
	var all []Outage
	for at := time.Duration(0); at < end && len(all) < maxSpans; {
		down, until := s.Down(at)
		if down {
			all = append(all, Outage{at, min(until, end) - at})
		}
		at = until
	}
	return all
}

// String writes a schedule as [ParseSchedule] reads it; "" is none.
func (s Schedule) String() string {
	var all []string
	for _, o := range s.Outages {
		all = append(all, fmt.Sprintf("%v+%v", o.At, o.For))
	}
	text := strings.Join(all, ";")
	if s.Every > 0 {
		text += "/" + s.Every.String()
	}
	return text
}

// ParseSchedule reads outages, each as its start and its length, and when they come again, if
// they do: 2s+1s or 2s+1s;5s+500ms/10s.
func ParseSchedule(text string) (s Schedule, err error) {
	outages, every, again := strings.Cut(text, "/")
	wrong := func(what string) error {
		return fmt.Errorf("%q: %q is no outage; want start+length, such as 2s+1s, more of them behind ;, and /10s if they come again every 10 s", text, what)
	}
	for one := range strings.SplitSeq(outages, ";") {
		from, length, two := strings.Cut(strings.TrimSpace(one), "+")
		at, errAt := time.ParseDuration(from)
		long, errFor := time.ParseDuration(length)
		if !two || errAt != nil || errFor != nil {
			return s, wrong(one)
		}
		s.Outages = append(s.Outages, Outage{at, long})
	}
	if again {
		if s.Every, err = time.ParseDuration(strings.TrimSpace(every)); err != nil || s.Every <= 0 {
			return s, fmt.Errorf("%q: %q is no time after which outages come again; want one such as 10s", text, every)
		}
	}
	return s, s.Check()
}
