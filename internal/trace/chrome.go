package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/strandmp/strand/internal/whowaits"
)

// A Summary is what [Write] has written, and what it could not.
type Summary struct {
	Events  int // of the ranks
	Arrows  int // from a send to its receive
	Lost    int // messages of which only one end is there
	Dropped map[int]uint64
	Clocks  []Clock
}

// An item is an event of the trace event format
// (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). Times are in µs.
type item struct {
	Name    string         `json:"name"`
	Phase   string         `json:"ph"`
	Class   string         `json:"cat,omitempty"`
	Time    float64        `json:"ts"`
	Last    *float64       `json:"dur,omitempty"`
	Process int            `json:"pid"`
	Row     int            `json:"tid"`
	ID      int            `json:"id,omitempty"`
	Bind    string         `json:"bp,omitempty"`
	Scope   string         `json:"s,omitempty"`
	Args    map[string]any `json:"args,omitempty"`

	// Of a span: made into the above when it is written. There may be millions.
	span *span
	of   *Rank
}

// metadata is the class of names. Some readers ask for one of every event.
const metadata = "__metadata"

// rowsOf is how many rows a class may have: more than a ring has events.
const rowsOf = 1 << 25

// shortest is how long a span is shown at least, in ns: an arrow begins in what can be seen.
const shortest = 100

// Process is the number of a rank as a process of the page. 0 is the idle process to some readers.
func Process(rank int) int { return 10_000 + rank }

// unexpectedRow is the row of messages without a receive.
const unexpectedRow = int(classes)*rowsOf + 1

var classNames = [classes]string{"calls", "waits", "sends", "receives"}

// Write makes one page of what all ranks have recorded. The events of the page are in the order of
// their times, which begin with 0.
func Write(to io.Writer, ranks []*Rank) (Summary, error) {
	p := &page{sum: Summary{Dropped: make(map[int]uint64)}}
	all := make([]*history, len(ranks))
	for i, r := range ranks {
		all[i] = historyOf(r)
		p.sum.Events += len(r.Events)
		if r.Dropped > 0 {
			p.sum.Dropped[r.Rank] = r.Dropped
		}
	}
	p.sum.Clocks = align(ranks, all)
	clocks := make(map[string]*Clock)
	for i := range p.sum.Clocks {
		clocks[p.sum.Clocks[i].Host] = &p.sum.Clocks[i]
	}
	for i, h := range all {
		h.correct(clocks[ranks[i].Host])
	}
	p.begin(all)
	for i, h := range all {
		p.rank(ranks[i], h)
	}
	p.arrows(ranks, all)
	slices.SortStableFunc(p.items, func(a, b item) int {
		if (a.Phase == "M") != (b.Phase == "M") { // names first
			if a.Phase == "M" {
				return -1
			}
			return 1
		}
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	return p.sum, p.write(to)
}

// correct brings a history to the clock of the first host.
func (h *history) correct(c *Clock) {
	for _, s := range h.spans {
		s.begin, s.end = c.Time(s.begin), c.Time(s.end)
		if s.matched != 0 {
			s.matched = c.Time(s.matched)
		}
		if s.arrived != 0 {
			s.arrived = c.Time(s.arrived)
		}
	}
	for i := range h.unexpected {
		h.unexpected[i].at = c.Time(h.unexpected[i].at)
	}
}

// A page is one that is being made.
type page struct {
	sum   Summary
	items []item
	zero  int64
	rows  map[*span]int
}

func (p *page) begin(all []*history) {
	p.rows = make(map[*span]int)
	first := true
	for _, h := range all {
		for _, s := range h.spans {
			if first || s.begin < p.zero {
				p.zero, first = s.begin, false
			}
		}
		for _, u := range h.unexpected {
			if first || u.at < p.zero {
				p.zero, first = u.at, false
			}
		}
	}
}

func (p *page) at(t int64) float64 { return float64(t-p.zero) / 1000 }

func (p *page) add(i item) { p.items = append(p.items, i) }

// rank adds what a rank has done.
func (p *page) rank(r *Rank, h *history) {
	about := map[string]any{"name": fmt.Sprintf("rank %d on %s", r.Rank, r.Host)}
	if r.Dropped > 0 {
		about["name"] = fmt.Sprintf("rank %d on %s (%d older events were dropped)", r.Rank, r.Host, r.Dropped)
	}
	p.add(item{Name: "process_name", Phase: "M", Class: metadata, Process: Process(r.Rank), Args: about})
	p.add(item{Name: "process_sort_index", Phase: "M", Class: metadata, Process: Process(r.Rank), Args: map[string]any{"sort_index": r.Rank}})
	p.lay(r, h)
	for _, s := range h.spans {
		last := float64(max(s.end-s.begin, shortest)) / 1000
		p.add(item{Phase: "X", Class: classNames[s.class], Time: p.at(s.begin), Last: &last, Process: Process(r.Rank), Row: p.rows[s], span: s, of: r})
	}
	for _, u := range h.unexpected {
		e := u.event
		p.add(item{Name: fmt.Sprintf("no receive yet for rank %d", e.Peer), Phase: "i", Scope: "t", Class: "unexpected", Time: p.at(u.at), Process: Process(r.Rank), Row: unexpectedRow,
			Args: map[string]any{"from": e.Peer, "tag": tag(e.Tag), "bytes": e.Bytes, "communicator": communicator(e.Context), "sequence": e.Seq}})
	}
	if len(h.unexpected) > 0 {
		p.row(r, unexpectedRow, "unexpected messages")
	}
}

// lay gives each span a row of its class in which nothing else is at that time: a reader takes what is in the same row for parts of each other.
func (p *page) lay(r *Rank, h *history) {
	var rows [classes]rows
	order := slices.Clone(h.spans)
	slices.SortStableFunc(order, func(a, b *span) int { return cmp.Compare(a.begin, b.begin) })
	for _, s := range order {
		row, another := rows[s.class].take(s.begin, s.begin+max(s.end-s.begin, shortest))
		p.rows[s] = int(s.class)*rowsOf + row + 1
		if another {
			name := classNames[s.class]
			if row > 0 {
				name = fmt.Sprintf("%s %d", name, row+1)
			}
			p.row(r, p.rows[s], name)
		}
	}
}

func (p *page) row(r *Rank, row int, name string) {
	p.add(item{Name: "thread_name", Phase: "M", Class: metadata, Process: Process(r.Rank), Row: row, Args: map[string]any{"name": name}})
	p.add(item{Name: "thread_sort_index", Phase: "M", Class: metadata, Process: Process(r.Rank), Row: row, Args: map[string]any{"sort_index": row}})
}

// arrows joins sends and receives.
func (p *page) arrows(ranks []*Rank, all []*history) {
	type place struct {
		rank int
		s    *span
	}
	sent := make(map[message]place)
	for i, h := range all {
		for _, s := range h.spans {
			if s.class == send {
				sent[s.key(ranks[i].Rank)] = place{ranks[i].Rank, s}
			}
		}
	}
	for i, h := range all {
		for _, s := range h.spans {
			if s.class != receive || !s.bound {
				continue
			}
			from, known := sent[s.key(ranks[i].Rank)]
			if !known {
				p.sum.Lost++
				continue
			}
			delete(sent, s.key(ranks[i].Rank))
			// The arrow ends within the receive, and not before it has begun.
			begin, end := from.s.begin, max(s.matched, from.s.begin)
			if end > s.begin+max(s.end-s.begin, shortest) {
				p.sum.Lost++ // clocks that can not be brought together
				continue
			}
			p.sum.Arrows++
			p.add(item{Name: "message", Class: "message", Phase: "s", Time: p.at(begin), Process: Process(from.rank), Row: p.rows[from.s], ID: p.sum.Arrows})
			p.add(item{Name: "message", Class: "message", Phase: "f", Bind: "e", Time: p.at(end), Process: Process(ranks[i].Rank), Row: p.rows[s], ID: p.sum.Arrows})
		}
	}
	p.sum.Lost += len(sent)
}

func (p *page) write(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	_, _ = out.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`) // a failure shows in Flush
	for i, e := range p.items {
		if e.span != nil {
			e.Name, e.Args = e.span.name(e.of), e.span.args(e.of)
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
		_, _ = out.Write(text)
	}
	about := map[string]any{"events": p.sum.Events, "arrows": p.sum.Arrows, "messages_with_one_end": p.sum.Lost, "dropped_events_by_rank": p.sum.Dropped}
	if len(p.sum.Clocks) > 1 {
		about["clocks"] = p.sum.Clocks
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n],\"otherData\":%s}\n", text)
	return out.Flush()
}

// name is what a span is called in the picture.
func (s *span) name(r *Rank) string {
	name := ""
	switch s.class {
	case call:
		name = r.Name(s.posted.Name)
		if name == "" {
			name = "collective call"
		}
	case wait:
		name = "wait"
	case send:
		name = fmt.Sprintf("send to %d", s.peer)
	default:
		name = "receive from any"
		if s.peer != Any {
			name = fmt.Sprintf("receive from %d", s.peer)
		}
	}
	switch {
	case s.unfinished:
		name += " (not over)"
	case s.failed:
		name += " (failed)"
	}
	return name
}

func (s *span) args(r *Rank) map[string]any {
	e := &s.posted
	args := map[string]any{}
	since := func(t int64) float64 { return float64(t-s.begin) / 1000 }
	switch s.class {
	case call:
		args["call"], args["communicator"] = e.Seq, communicator(e.Context)
		return args
	case wait:
		args["requests"] = e.Bytes
		return args
	case send:
		args["to"], args["bytes"] = s.peer, s.bytes
		if s.rail != "" {
			args["over"] = s.rail
		}
		if s.matched != 0 {
			args["matched after µs"] = since(s.matched)
		}
	default:
		args["from"], args["room"] = "any", e.Bytes
		if e.Peer != Any {
			args["from"] = e.Peer
		}
		if s.bound {
			args["sender"], args["bytes"], args["matched after µs"] = s.peer, s.bytes, since(s.matched)
		}
		if s.arrived != 0 {
			args["its message was there before, for µs"] = -since(s.arrived)
		}
	}
	if s.bound {
		args["sequence"] = s.seq
	}
	args["tag"], args["communicator"] = tag(e.Tag), communicator(e.Context)
	if e.Context%2 > 0 {
		args["of a collective call"] = true
	}
	return args
}

func tag(t int32) any {
	if t == Any {
		return "any"
	}
	return t
}

// communicator names that of a context.
func communicator(context uint64) string { return whowaits.NameComm(context / 2) }
