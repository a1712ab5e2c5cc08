package programs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
)

// A list is requests as the functions over several of them take them: some places hold
// none, that is, the zero Request.
type list struct {
	handles []strand.Request
	whose   []*request // nil: none
}

// listOf makes a list of requests, with nothing in some places between them.
func (r *rank) listOf(requests []*request) *list {
	l := new(list)
	gaps := r.random.IntN(3)
	for i := 0; i <= len(requests); i++ {
		for gaps > 0 && r.random.IntN(len(requests)+1) == 0 {
			l.add(nil)
			gaps--
		}
		if i < len(requests) {
			l.add(requests[i])
		}
	}
	return l
}

func (l *list) add(q *request) {
	var handle strand.Request
	if q != nil {
		handle = q.handle
	}
	l.handles, l.whose = append(l.handles, handle), append(l.whose, q)
}

// at returns the request in a place that a call has named.
func (l *list) at(i int) (*request, error) {
	if i < 0 || i >= len(l.whose) || l.whose[i] == nil {
		return nil, fmt.Errorf("a call over %d requests, all of which were started, says that the one in place %d of %d has ended, where there is none",
			len(l.requests()), i, len(l.whose))
	}
	return l.whose[i], nil
}

// failures returns the errors of the requests by their places, after a call that has ended all
// of them and returned err.
func (l *list) failures(err error) (map[int]error, error) {
	if err == nil {
		return nil, nil
	}
	failed, is := errors.AsType[*strand.WaitError](err)
	if !is {
		return nil, err
	}
	all := make(map[int]error)
	for _, o := range failed.Failed {
		if _, wrong := l.at(o.Index); wrong != nil {
			return nil, wrong
		}
		all[o.Index] = o.Err
	}
	return all, nil
}

// requests returns those that are none excepted.
func (l *list) requests() []*request {
	return slices.DeleteFunc(slices.Clone(l.whose), func(q *request) bool { return q == nil })
}

// poison is what a status holds before a call sets it.
var poison = strand.Status{Source: 0x5A5A, Tag: 0x5A5A, Count: 0x5A5A}

func (l *list) statuses() []strand.Status {
	all := make([]strand.Status, len(l.handles))
	for i := range all {
		all[i] = poison
	}
	return all
}

// nothing tries the functions over several requests on none at all: they return at once,
// and what they say of each is empty.
func (r *rank) nothing() error {
	reqs := make([]strand.Request, r.random.IntN(4))
	statuses := make([]strand.Status, len(reqs))
	check := func(call string, ok bool, err error) error {
		for _, st := range statuses {
			ok = ok && st != poison
		}
		if !ok || err != nil {
			return fmt.Errorf("%s over %d requests that are none: statuses %v, error %s", call, len(reqs), statuses, fmt.Sprint(err))
		}
		return nil
	}
	switch r.random.IntN(6) {
	case 0:
		i, _, err := strand.WaitAny(r.ctx, reqs)
		return check("WaitAny", i == -1, err)
	case 1:
		outcomes, err := strand.WaitSome(r.ctx, reqs, nil)
		return check("WaitSome", len(outcomes) == 0, err)
	case 2:
		i, _, done, err := strand.TestAny(reqs)
		return check("TestAny", i == -1 && done, err)
	case 3:
		outcomes, err := strand.TestSome(reqs, nil)
		return check("TestSome", len(outcomes) == 0, err)
	case 4:
		statuses = (&list{handles: reqs}).statuses()
		return check("WaitAll", true, strand.WaitAll(r.ctx, reqs, statuses))
	}
	statuses = (&list{handles: reqs}).statuses()
	done, err := strand.TestAll(reqs, statuses)
	return check("TestAll", done, err)
}
