package whowaits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// shown is how many waits, and how many messages, the text shows of a rank.
const shown = 10

// alike is how many findings of a kind the text shows.
const alike = 8

// Write shows what each rank waits for, and what was found.
func Write(b *strings.Builder, ranks []Rank, findings []Finding, awaited []int) {
	WriteRanks(b, ranks)
	WriteFindings(b, findings)
	WriteElsewhere(b, ranks, findings)
	if !Lasts(findings) {
		WriteAwaited(b, ranks, awaited)
	}
}

// WriteRanks shows what each rank waits for.
func WriteRanks(b *strings.Builder, ranks []Rank) {
	for i := range ranks {
		writeRank(b, &ranks[i])
	}
}

// WriteFindings shows what was found.
func WriteFindings(b *strings.Builder, findings []Finding) {
	switch {
	case len(findings) == 0:
		b.WriteString("  => No deadlock was found.\n")
	case !Lasts(findings):
		b.WriteString("  => No deadlock was found: what follows ends by itself, with the context of a call or with the time that World.Close has.\n")
	}
	of := make(map[string]int)
	for _, f := range findings {
		if of[f.Kind]++; of[f.Kind] <= alike {
			fmt.Fprintf(b, "  => %s\n", f.Text)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		if more := of[kind] - alike; more > 0 {
			fmt.Fprintf(b, "  => and %d more findings of that kind (%s)\n", more, kind)
		}
	}
}

// WriteElsewhere says on what findings rest: that goroutines which do something else than waiting do not help.
func WriteElsewhere(b *strings.Builder, ranks []Rank, findings []Finding) {
	if len(findings) == 0 {
		return
	}
	var all []string
	for i := range ranks {
		if r := ranks[i].Report; r != nil && len(r.Elsewhere) > 0 && slices.ContainsFunc(r.Waits, func(w Wait) bool { return w.byProgram() }) {
			all = append(all, fmt.Sprintf("rank %d has one at %s: %s", ranks[i].Rank, r.Elsewhere[0].At, r.Elsewhere[0].Name))
		}
	}
	if len(all) == 0 {
		return
	}
	text := strings.Join(all[:min(len(all), mostNamed)], "; ")
	if more := len(all) - mostNamed; more > 0 {
		text += fmt.Sprintf("; and %d ranks more", more)
	}
	fmt.Fprintf(b, "  => That holds unless a goroutine elsewhere is to send or to receive: %s.\n", text)
}

// WriteAwaited shows the ranks that others wait for, and that may go on.
func WriteAwaited(b *strings.Builder, ranks []Rank, awaited []int) {
	var inNone []int
	told := 0
	tell := func(rank int, what string) {
		if told++; told <= mostNamed {
			fmt.Fprintf(b, "  => Others wait for rank %d, which %s.\n", rank, what)
		}
	}
	for _, rank := range awaited {
		switch r := &ranks[rank]; {
		case r.Report == nil:
			tell(rank, cmp.Or(r.Silent, unversed))
		case slices.ContainsFunc(r.Report.Calls, func(c Call) bool { return !c.Own }):
			tell(rank, "waits in "+r.Report.Calls[slices.IndexFunc(r.Report.Calls, func(c Call) bool { return !c.Own })].text())
		case slices.ContainsFunc(r.Report.Waits, func(w Wait) bool { return w.byProgram() }):
			tell(rank, "goes on: it has sent a message, or one of its calls has ended or begun, while the ranks were asked")
		default:
			inNone = append(inNone, rank)
		}
	}
	if more := told - mostNamed; more > 0 {
		fmt.Fprintf(b, "  => Others wait for %d ranks more of these.\n", more)
	}
	if len(inNone) > 0 {
		fmt.Fprintf(b, "  => Others wait for %s, which %s in no call that waits: computing, waiting for something else than messages, or looking for them again and again (Test, Iprobe).\n",
			named(inNone), number(inNone, "is", "are"))
	}
}

// unversed is what is said of a rank that answers, and does not say what it waits for.
const unversed = "says nothing of what it waits for: it is of an older version"

func writeRank(b *strings.Builder, r *Rank) {
	line := func(format string, args ...any) {
		fmt.Fprintf(b, "  rank %d: %s\n", r.Rank, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Ended:
		line("has ended, or has left the job")
		return
	case r.Report == nil && r.Silent == "":
		line(unversed)
		return
	case r.Report == nil:
		line("%s", r.Silent)
		return
	}
	blocked := 0
	rest := r.Report.Omitted
	for _, first := range []bool{true, false} { // those that a call waits for come first
		for i := range r.Report.Waits {
			w := &r.Report.Waits[i]
			if w.Blocked == first {
				if blocked++; blocked > shown {
					rest++
				} else {
					line("%s %s", verb(w), describe(w))
				}
			}
		}
	}
	for _, c := range r.Report.Calls {
		line("waits in %s", c.text())
	}
	if c := r.Report.Closing; c != nil {
		line("%s", c.text())
	}
	if blocked == 0 && len(r.Report.Calls) == 0 && r.Report.Closing == nil {
		line("waits for nothing: it is in no call that waits")
	}
	for i, c := range r.Report.Elsewhere {
		if i < mostNamed {
			line("has a goroutine in no such call, at %s: %s", c.At, c.Name)
		} else {
			rest++
		}
	}
	for i, m := range r.Report.Unexpected {
		if i >= shown {
			rest++
			continue
		}
		tag := fmt.Sprintf("tag %d", m.Tag)
		if m.Collective {
			tag = collectiveTag(m.Tag)
		}
		about := fmt.Sprintf("from rank %d, %s, %d bytes%s", m.From, tag, m.Bytes, inComm(m.Comm))
		switch {
		case m.Taken:
			line("has not received a message that a matched probe has taken: %s", about)
		case m.Unmade:
			line("has no receive for a message %s, which it has not made", about)
		default:
			line("has no receive for a message %s", about)
		}
	}
	if rest > 0 {
		line("and %d more", rest)
	}
}

// text says for what a rank waits that closes its world.
func (c *Closing) text() string {
	if c.Goodbye {
		return fmt.Sprintf("closes its world, and waits for answers to its goodbye: %s not answered", ranksHave(c.Ranks))
	}
	return fmt.Sprintf("closes its world, and waits for messages under way to or from %s", named(c.Ranks))
}

func verb(w *Wait) string {
	if w.Blocked {
		return "waits for"
	}
	return "has started"
}

// describe says what a wait is for, and where the program waits.
func describe(w *Wait) string {
	var b strings.Builder
	tag := fmt.Sprintf("tag %d", w.Tag)
	if w.Tag == Any {
		tag = "any tag"
	}
	if w.Collective {
		tag = collectiveTag(w.Tag)
	}
	from := fmt.Sprintf("rank %d", w.Peer)
	if w.Peer == Any {
		from = "any source"
	}
	switch {
	case w.agrees():
		b.WriteString("an agreement of all")
	case w.Kind == Send:
		fmt.Fprintf(&b, "a send of %d bytes to %s, %s%s", w.Bytes, from, tag, sendState[w.State])
	case w.Kind == Request:
		b.WriteString("a call that goes on by itself")
	case w.Kind == Probe:
		fmt.Fprintf(&b, "a probe for a message from %s, %s", from, tag)
	default:
		fmt.Fprintf(&b, "a receive from %s, %s", from, tag)
		if w.State == Moving {
			b.WriteString(", whose message is arriving")
		}
	}
	b.WriteString(inComm(w.Comm))
	if w.Left != "" {
		fmt.Fprintf(&b, ", until its context ends in %s", w.Left)
	}
	if w.Call != nil {
		b.WriteString(", in " + w.Call.text())
	}
	return b.String()
}

var sendState = map[string]string{
	Unmatched:   ", which no receive has taken",
	Queued:      ", which waits for a connection or for room",
	Moving:      ", which is on its way",
	Unconfirmed: ", which is sent, but not confirmed",
}

// text says which call it is and where it was made.
func (c *Call) text() string {
	text := c.Name
	if c.At != "" {
		text += " at " + c.At
	}
	if c.Since != "" {
		text += " for " + c.Since
	}
	return text
}

// CallTags is how many collective calls of a communicator have tags of their own: those below, in turn. A call that goes on by itself may be
// under way while a million others are made, in some seconds. Five hundred million take longer than any call.
const CallTags = 1 << 29

// collectiveTag says of which collective call a message is. Those with higher tags are of calls
// too, which find out beforehand what they need to know.
func collectiveTag(tag int) string {
	if tag < CallTags {
		return fmt.Sprintf("collective call %d", tag)
	}
	return "a collective call"
}

func inComm(id uint64) string {
	if id == 0 {
		return ""
	}
	return ", in " + NameComm(id)
}

// NameComm names a communicator: by the rank of the world that has numbered it, and the number.
func NameComm(id uint64) string {
	if id == 0 {
		return "the world's communicator"
	}
	return fmt.Sprintf("communicator %d.%d", id>>32, uint32(id))
}
