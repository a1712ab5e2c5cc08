package job

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long a warning waits for other ranks to say the same: since the last that did, and in all.
// Ranks find out the same at their start, but they are started one after the other.
const (
	gatherPause = 500 * time.Millisecond
	gatherTime  = 5 * time.Second
)

// maxGathered bounds how many different warnings wait at a time. One more is shown at once.
const maxGathered = 1000

// warnings shows a warning of several ranks once, with the ranks that have said it. Their texts
// may differ in their own number. A warning that comes again after it was shown is shown again.
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

// find returns the warning of that text, or a new one. The caller holds the lock.
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

// tell shows a warning unless it was shown already. The caller holds the lock.
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

// finish shows all warnings that wait. No rank is left to say the same.
func (ws *warnings) finish() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for len(ws.waiting) > 0 {
		ws.tell(ws.waiting[0])
	}
}
