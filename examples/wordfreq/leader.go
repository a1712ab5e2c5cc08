package main

import (
	"context"
	"fmt"
	"time"

	"github.com/strandmp/strand"
)

// tally is the outcome of a count: the words of each kind of file.
type tally struct {
	files [kinds]int
	bytes [kinds]int64
	words [kinds]counts
}

func newTally(documents []document) *tally {
	t := new(tally)
	for k := range t.words {
		t.words[k] = make(counts)
	}
	for _, d := range documents {
		t.files[d.kind]++
		t.bytes[d.kind] += d.size
	}
	return t
}

// lead is rank 0's part: farm out, count alone, compare, report.
func lead(ctx context.Context, w *strand.World, requests, results *strand.Comm, c config) error {
	if c.dir == "" {
		var err error
		if c.dir, err = goSources(); err != nil {
			return err
		}
	}
	documents, total, err := list(c.dir, c.max)
	if err != nil {
		return fmt.Errorf("listing the files to count: %w (choose a directory by -dir)", err)
	}
	fmt.Fprintf(c.out, "%s: %s files, %s\n", c.dir, grouped(uint64(len(documents))), megabytes(total))

	start := time.Now()
	shared, err := farmOut(ctx, requests, results, documents, c.ahead)
	if err != nil {
		return err
	}
	together := time.Since(start)

	start = time.Now()
	alone, err := countAlone(documents)
	if err != nil {
		return err
	}
	if err := shared.compare(alone); err != nil {
		return err
	}
	report(w, c, shared, run{total, together, time.Since(start)})
	return nil
}

// A farm is the state of handing out files. Each worker answers in the order in
// which it was asked (messages of one sender do not overtake each other), so its
// oldest request is the one that is answered.
type farm struct {
	requests *strand.Comm
	left     []document
	workers  []line
	underway int
}

// line is the requests under way to one worker, in a ring.
type line struct {
	rank         int
	slots        []slot
	first, count int
}

// slot is one request: the buffer is the library's until the request completes.
type slot struct {
	buf     []byte
	request strand.Request
}

// farmOut has the others count the documents and merges their results.
func farmOut(ctx context.Context, requests, results *strand.Comm, documents []document, ahead int) (*tally, error) {
	f := newFarm(requests, documents, ahead)
	t := newTally(documents)
	for range ahead {
		for w := range f.workers {
			if err := f.give(&f.workers[w]); err != nil {
				return nil, err
			}
		}
	}
	var answer []byte
	for f.underway > 0 {
		st, b, err := receive(ctx, results, strand.AnySource, answer)
		if err != nil {
			return nil, err
		}
		answer = b
		if st.Tag < 0 || st.Tag >= int(kinds) {
			return nil, fmt.Errorf("rank %d answers with tag %d", st.Source, st.Tag)
		}
		// First the next file, so that the worker need not wait for the merging.
		if err := f.answered(ctx, st.Source); err != nil {
			return nil, err
		}
		if err := t.words[st.Tag].addMessage(answer); err != nil {
			return nil, fmt.Errorf("rank %d: %w", st.Source, err)
		}
	}
	return t, f.stop(ctx)
}

func newFarm(requests *strand.Comm, documents []document, ahead int) *farm {
	f := &farm{requests: requests, left: documents}
	first := min(1, requests.Size()-1) // alone, rank 0 is the worker
	for rank := first; rank < requests.Size(); rank++ {
		f.workers = append(f.workers, line{rank: rank, slots: make([]slot, ahead)})
	}
	return f
}

// give sends a worker the next file, if one is left.
func (f *farm) give(l *line) error {
	if len(f.left) == 0 || l.count == len(l.slots) {
		return nil
	}
	d := f.left[0]
	f.left = f.left[1:]
	s := &l.slots[(l.first+l.count)%len(l.slots)]
	var err error
	if s.buf, err = d.read(s.buf); err != nil {
		return err
	}
	if s.request, err = f.requests.Isend(s.buf, l.rank, int(d.kind)); err != nil {
		return err
	}
	l.count++
	f.underway++
	return nil
}

// answered ends a worker's oldest request and gives it another.
func (f *farm) answered(ctx context.Context, rank int) error {
	l := &f.workers[rank-f.workers[0].rank]
	if l.count == 0 {
		return fmt.Errorf("rank %d answers and was not asked", rank)
	}
	if _, err := l.slots[l.first].request.Wait(ctx); err != nil {
		return err
	}
	l.first = (l.first + 1) % len(l.slots)
	l.count--
	f.underway--
	return f.give(l)
}

// stop ends the workers.
func (f *farm) stop(ctx context.Context) error {
	for _, l := range f.workers {
		if err := f.requests.Send(ctx, nil, l.rank, tagStop); err != nil {
			return err
		}
	}
	return nil
}

// countAlone is the same count in one process, with no messages at all.
func countAlone(documents []document) (*tally, error) {
	t := newTally(documents)
	var buf []byte
	for _, d := range documents {
		var err error
		if buf, err = d.read(buf); err != nil {
			return nil, err
		}
		t.words[d.kind].addText(buf)
	}
	return t, nil
}

// compare looks for any difference between a shared count and one alone.
func (t *tally) compare(alone *tally) error {
	for k := range kinds {
		if err := t.words[k].difference(alone.words[k]); err != nil {
			return fmt.Errorf("VERIFICATION FAILED: in the %v files, counted together or alone, %w", k, err)
		}
	}
	return nil
}
