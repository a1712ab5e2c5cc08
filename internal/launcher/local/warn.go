package local

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long a warning waits for other ranks to say the same: from one to the next,
// and in all. What ranks find out when they start they say one after the other, as
// they were started.
const (
	gatherPause = 500 * time.Millisecond
	gatherTime  = 5 * time.Second
)

// maxGathered bounds how many different warnings wait at a time; what comes beyond
// that is shown at once.
const maxGathered = 1000

// warnings shows what several ranks say alike, but for their own number, once, with
// the ranks that have said it. One that comes again after it was shown is shown again.
type warnings struct {
	ranks int // of the job
	show  func(text string)

	mu      sync.Mutex
	waiting []*warning // in order of arrival
}

// A warning waits to be shown. Its text names the rank that says it between the two
// halves: "tcp: " and "rank 3: no such interface".
type warning struct {
	before, after string
	from          []int
	since         time.Time
	timer         *time.Timer
}

// add takes a warning of a rank's.
func (ws *warnings) add(rank int, text string) {
	before, after, found := strings.Cut(text, fmt.Sprintf("rank %d: ", rank))
	if !found || before != "" && !strings.HasSuffix(before, " ") {
		before, after = "", text
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.find(before, after)
	switch {
	case slices.Contains(w.from, rank):
		return
	case len(w.from) > 0 && time.Since(w.since) < gatherTime:
		w.timer.Reset(gatherPause)
	}
	if w.from = append(w.from, rank); len(w.from) == ws.ranks || len(ws.waiting) > maxGathered {
		ws.tell(w)
	}
}

// find returns the warning of that text, or a new one. The lock is held.
func (ws *warnings) find(before, after string) *warning {
	for _, w := range ws.waiting {
		if w.before == before && w.after == after {
			return w
		}
	}
	w := &warning{before: before, after: after, since: time.Now()}
	w.timer = time.AfterFunc(gatherPause, func() {
		ws.mu.Lock()
		defer ws.mu.Unlock()
		ws.tell(w)
	})
	ws.waiting = append(ws.waiting, w)
	return w
}

// tell shows a warning unless that was done. The lock is held.
func (ws *warnings) tell(w *warning) {
	at := slices.Index(ws.waiting, w)
	if at < 0 {
		return
	}
	w.timer.Stop()
	ws.waiting = slices.Delete(ws.waiting, at, at+1)
	slices.Sort(w.from)
	who := nameRanks(w.from)
	if len(w.from) == ws.ranks && ws.ranks > 1 {
		who = fmt.Sprintf("all %d ranks", ws.ranks)
	}
	ws.show(fmt.Sprintf("strand: %s%s: %s\n", w.before, who, strings.ReplaceAll(w.after, "\n", "\n  ")))
}

// finish shows all that wait. No rank is left to warn.
func (ws *warnings) finish() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for len(ws.waiting) > 0 {
		ws.tell(ws.waiting[0])
	}
}
