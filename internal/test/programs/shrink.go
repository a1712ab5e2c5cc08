package programs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/given"
)

// A unit is the smallest part of a session that can be left out: a step of a program, or a
// send or a receive of the farewell.
type unit struct {
	of string // the number of a program, "s" or "r"
	n  int
}

// units returns all of a session, in order.
func (s *Session) units() (all []unit) {
	for i, p := range s.programs {
		for n := range p.steps {
			all = append(all, unit{strconv.Itoa(i), n})
		}
	}
	if s.farewell != nil {
		for n := range s.farewell.letters {
			all = append(all, unit{"s", n})
		}
		for n := range s.farewell.wanted {
			all = append(all, unit{"r", n})
		}
	}
	return all
}

// keep returns the session with these units alone. Programs of which nothing is left are left
// out.
func (s *Session) keep(units []unit) *Session {
	of := make(map[string][]int)
	for _, u := range units {
		of[u.of] = append(of[u.of], u.n)
	}
	kept := *s
	kept.programs = nil
	for i, p := range s.programs {
		if steps := of[strconv.Itoa(i)]; len(steps) > 0 {
			kept.programs = append(kept.programs, p.keep(steps))
		}
	}
	if s.farewell != nil {
		kept.farewell = s.farewell.keep(of["s"], of["r"])
	}
	return &kept
}

// keep returns the program with these steps alone, less those over communicators that are
// not made then.
func (p *program) keep(steps []int) *program {
	kept := *p
	kept.steps, kept.messages, kept.phases = nil, nil, 1
	made := map[int]bool{0: true}
	index, ordinal := make(map[[3]int]int), make(map[[4]int]int)
	letter := func(m *message) *message {
		again := *m
		pair, tagged := [3]int{m.comm, m.from, m.to}, [4]int{m.comm, m.from, m.to, m.tag}
		again.id, again.index, again.phase = len(kept.messages), index[pair], kept.phases-1
		index[pair]++
		ordinal[tagged]++
		again.ordinal = ordinal[tagged]
		kept.messages = append(kept.messages, &again)
		return &again
	}
	for i, st := range p.steps {
		// The last drain ends what is under way.
		if !slices.Contains(steps, i) && i < len(p.steps)-1 && st.kind != stepDrain || !made[st.comm] {
			continue
		}
		s := *st
		switch s.kind {
		case stepSend, stepTransfer:
			s.message = letter(s.message)
		case stepFlood:
			s.flood = slices.Clone(s.flood)
			for j, m := range s.flood {
				s.flood[j] = letter(m)
			}
		case stepExchange:
			s.letters = slices.Clone(s.letters)
			for j, m := range s.letters {
				if m != nil {
					s.letters[j] = letter(m)
				}
			}
		case stepDup, stepSplit, stepGrid:
			for _, id := range s.made {
				made[id] = true
			}
		case stepFree:
			delete(made, s.comm)
		case stepDrain:
			kept.phases++
		}
		kept.steps = append(kept.steps, &s)
	}
	delete(made, -1)
	return &kept
}

// Keep leaves of the session what a text says that [Session.Shrink] has returned.
func (s *Session) Keep(text string) (*Session, error) {
	var units []unit
	for part := range strings.SplitSeq(text, ";") {
		of, list, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("%q does not say of what these are parts", part)
		}
		for each := range strings.SplitSeq(list, ",") {
			from, to, isRange := strings.Cut(each, "-")
			if !isRange {
				to = from
			}
			first, err := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			if err != nil || err2 != nil {
				return nil, fmt.Errorf("%q is no range of numbers", each)
			}
			for n := first; n <= last; n++ {
				units = append(units, unit{of, n})
			}
		}
	}
	return s.keep(units), nil
}

// textOf is what Keep takes.
func textOf(units []unit) string {
	of := make(map[string][]int)
	for _, u := range units {
		of[u.of] = append(of[u.of], u.n)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var ranges []string
		for list := of[name]; len(list) > 0; {
			n := 1
			for n < len(list) && list[n] == list[0]+n {
				n++
			}
			if n == 1 {
				ranges = append(ranges, strconv.Itoa(list[0]))
			} else {
				ranges = append(ranges, fmt.Sprintf("%d-%d", list[0], list[n-1]))
			}
			list = list[n:]
		}
		parts = append(parts, name+":"+strings.Join(ranges, ","))
	}
	return strings.Join(parts, ";")
}

const (
	// attempts is how often a smaller session is run before it is taken for one that does
	// not fail: much follows from how ranks happen to run.
	attempts = 4
	// shortStall is how long nothing may happen in such a session.
	shortStall = 4 * time.Second
)

// Shrink looks for a part of a session that fails, and whose parts do not, until its time is
// up. It returns the text by which [Session.Keep] finds it, how it has failed, and nil if
// nothing smaller did.
func (s *Session) Shrink(ctx context.Context, limit time.Duration) (text string, failure error) {
	given.Context(ctx)
	deadline := time.Now().Add(limit)
	units := s.units()
	fails := func(units []unit) error {
		small := s.keep(units)
		small.patience = shortStall
		for range attempts {
			if time.Now().After(deadline) || ctx.Err() != nil {
				return nil
			}
			if _, err := small.Run(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	for size := len(units) / 2; size > 0; size /= 2 {
		for at := 0; at < len(units); {
			without := slices.Concat(units[:at], units[min(at+size, len(units)):])
			if err := fails(without); err != nil {
				units, failure = without, err
			} else {
				at += size
			}
		}
	}
	return textOf(units), failure
}
