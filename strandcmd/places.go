package strandcmd

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/launcher/remote"
)

// A place is a host and how many ranks it takes.
type place struct {
	host  string
	slots int // 0: any number
}

// parsePlace reads "host" or "host:4". A host that is an address of IPv6 with slots is in
// brackets: "[fd00::1]:4". What ssh takes as a URI, ssh://host:22, has a port there.
func parsePlace(text string) (place, error) {
	p := place{host: text}
	if rest, inBrackets := strings.CutPrefix(text, "["); inBrackets {
		host, slots, closed := strings.Cut(rest, "]")
		if !closed || slots != "" && slots[0] != ':' {
			return place{}, fmt.Errorf("%q: want [address] or [address]:slots", text)
		}
		p.host = host
		if slots == "" {
			return p, remote.CheckName(p.host)
		}
		return p.with(slots[1:])
	}
	if strings.Count(text, ":") == 1 && !strings.HasPrefix(text, "ssh:") {
		host, slots, _ := strings.Cut(text, ":")
		p.host = host
		return p.with(slots)
	}
	return p, remote.CheckName(p.host)
}

// with sets the number of slots.
func (p place) with(slots string) (place, error) {
	n, err := strconv.Atoi(slots)
	if err != nil || n < 1 || n > maxSlots {
		return place{}, fmt.Errorf("%s:%s: want 1 to %d slots behind the colon, or a name alone", p.host, slots, maxSlots)
	}
	p.slots = n
	return p, remote.CheckName(p.host)
}

// maxSlots bounds the ranks of a host: more is a slip of the finger.
const maxSlots = 4096

// parsePlaces reads --host a:4,b:4.
func parsePlaces(texts []string) ([]place, error) {
	var all []place
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			p, err := parsePlace(one)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(o place) bool { return o.host == p.host }) {
				return nil, fmt.Errorf("%s is there twice; %s:2 gives it two ranks", p.host, p.host)
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// readHostfile reads a file of hosts in the forms of others: a line each, with slots as "a:4"
// (MPICH) or "a slots=4" (Open MPI). Where a host is on several lines each line without a number is a slot, as batch
// systems write them (PBS: a, a, b).
func readHostfile(path string) ([]place, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []place
	repeated := false
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), byteOrderMark), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		p, err := parsePlace(words[0])
		for _, word := range words[1:] {
			if slots, is := strings.CutPrefix(word, "slots="); is && err == nil {
				p, err = p.with(slots)
			} else if err == nil && !strings.HasPrefix(word, "max_slots=") && !strings.HasPrefix(word, "max-slots=") {
				err = fmt.Errorf("%q: want a host and slots=N", word)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		at := slices.IndexFunc(all, func(o place) bool { return o.host == p.host })
		if at < 0 {
			all = append(all, p)
			continue
		}
		all[at].slots = max(all[at].slots, 1) + max(p.slots, 1)
		repeated = true
	}
	for i := range all {
		if repeated {
			all[i].slots = max(all[i].slots, 1)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: it names no host", path)
	}
	return all, nil
}

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\ufeff"

// allSlots is how many ranks the places take; 0: any number.
func allSlots(places []place) int {
	sum := 0
	for _, p := range places {
		if p.slots == 0 {
			return 0
		}
		sum += p.slots
	}
	return sum
}

// errSlots: more ranks than slots.
func errSlots(n int, places []place) error {
	return fmt.Errorf("-n %d: the hosts have %d slots; give them more, or none (a host without a number takes any)", n, allSlots(places))
}

// spread gives the ranks to the places: in rows as long as the places' slots, or one at a time
// in turn. Places without slots share what is left evenly.
func spread(n int, places []place, inTurn bool) ([][]int, error) {
	if len(places) == 0 {
		return nil, errors.New("no hosts")
	}
	if slots := allSlots(places); slots > 0 && n > slots {
		return nil, errSlots(n, places)
	}
	room := rooms(n, places)
	ranks := make([][]int, len(places))
	for rank, at := 0, 0; rank < n; {
		for len(ranks[at]) >= room[at] {
			at = (at + 1) % len(places)
		}
		ranks[at] = append(ranks[at], rank)
		rank++
		if inTurn {
			at = (at + 1) % len(places)
		}
	}
	return ranks, nil
}

// rooms returns how many ranks each place may have.
func rooms(n int, places []place) []int {
	room, open := make([]int, len(places)), 0
	left := n
	for i, p := range places {
		room[i] = p.slots
		left -= p.slots
		if p.slots == 0 {
			open++
		}
	}
	left = max(left, 0)
	for i, p := range places {
		if p.slots == 0 {
			room[i] = (left + open - 1) / open
			left -= room[i]
			open--
		}
	}
	return room
}
