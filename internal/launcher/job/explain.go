package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/whowaits"
)

// explainTime bounds how long ranks are asked what they wait for, before their job is ended. A rank
// that is stopped does not answer.
const explainTime = 2 * time.Second

// mostExplained is how many ranks the explanation shows. The findings are about all.
const mostExplained = 64

// An explanation is what ranks wait for.
type explanation struct {
	ranks    []whowaits.Rank
	findings []whowaits.Finding
	awaited  []int
}

// explaining is the explanation that a supervisor waits for.
type explaining struct {
	why     string
	then    func() // nil: none is waited for
	results chan explanation
	cancel  context.CancelFunc
}

// explain asks the ranks what they wait for, and goes on with then when they have answered, or are
// not going to. It does so at once if no rank can be asked, or if ranks are being asked already: who
// asks again does not want to wait.
func (s *supervisor) explain(why string, then func()) {
	asked := make([]bool, len(s.state))
	for rank, state := range s.state {
		asked[rank] = state.initialised && !state.finalised && !state.exited
	}
	known := s.unasked()
	meeting := s.meeting(known, asked)
	if earlier := s.explaining.then; earlier != nil || s.stopping || !meeting && !slices.Contains(asked, true) {
		s.endExplaining()
		if earlier != nil {
			earlier()
		}
		then()
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), explainTime, errNoReport)
	results := make(chan explanation, 1)
	s.explaining = explaining{why, then, results, cancel}
	s.working.Go(func() { results <- s.whoWaits(ctx, known, asked) })
}

// unasked is what is known of the ranks without asking them.
func (s *supervisor) unasked() []live.Rank {
	all := make([]live.Rank, len(s.state))
	for rank, state := range s.state {
		all[rank] = live.Rank{Rank: rank, PID: s.ranks[rank].PID(), Silent: "has not joined the job: it has not come as far as Init, or does not use Strand"}
		if state.finalised || state.exited {
			all[rank].Silent, all[rank].Ended = "has ended", true
		}
	}
	return all
}

// meeting says of the ranks in the launcher's barrier whom they wait for, and that they are not to be asked: ranks that are in
// Init give no reports yet. It returns whether there are such ranks.
func (j *job) meeting(all []live.Rank, asked []bool) bool {
	come, missing := j.server.Meeting()
	for _, rank := range come {
		all[rank].Silent, asked[rank] = "waits in the launcher's barrier, as Init does, for "+nameRanks(missing), false
	}
	return len(come) > 0
}

// whoWaits asks ranks twice, as a judgement needs it. Who does not answer is not asked again.
func (j *job) whoWaits(ctx context.Context, known []live.Rank, asked []bool) explanation {
	before := slices.Clone(known)
	j.ask(ctx, before, asked)
	for rank, r := range before {
		asked[rank] = asked[rank] && r.Silent == ""
	}
	select {
	case <-time.After(whowaits.Pause):
	case <-ctx.Done():
	}
	after := slices.Clone(before)
	j.ask(ctx, after, asked)
	then, now := live.Waits(before), live.Waits(after)
	return explanation{now, whowaits.Judge(then, now), whowaits.Awaited(then, now)}
}

// explained shows what the ranks wait for, and goes on.
func (s *supervisor) explained(e explanation) {
	if s.stopping { // they say what they have done since
		s.endExplaining()
		return
	}
	then := s.explaining.then
	var b strings.Builder
	fmt.Fprintf(&b, "strand run: %s: what the ranks wait for:\n", s.explaining.why)
	e.write(&b)
	s.notes.add(b.String())
	s.earlier = e
	s.endExplaining()
	then()
}

func (e *explanation) write(b *strings.Builder) {
	shown := e.ranks
	if len(shown) > mostExplained {
		shown = shown[:mostExplained]
	}
	whowaits.WriteRanks(b, shown)
	if more := len(e.ranks) - len(shown); more > 0 {
		fmt.Fprintf(b, "  and %d ranks more\n", more)
	}
	e.writeReasons(b)
}

// writeReasons shows what was found, without what each rank waits for.
func (e *explanation) writeReasons(b *strings.Builder) {
	whowaits.WriteFindings(b, e.findings)
	whowaits.WriteElsewhere(b, e.ranks, e.findings)
	if !whowaits.Lasts(e.findings) {
		whowaits.WriteAwaited(b, e.ranks, e.awaited)
	}
}

// endExplaining forgets the ranks' answers.
func (s *supervisor) endExplaining() {
	if s.explaining.cancel != nil {
		s.explaining.cancel()
	}
	s.explaining = explaining{}
}

// repeatReasons shows why the ranks have waited once more, behind the stacks of all goroutines.
func (s *supervisor) repeatReasons() {
	if len(s.earlier.findings) == 0 && len(s.earlier.awaited) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("strand run: why the ranks have waited:\n")
	s.earlier.writeReasons(&b)
	s.notes.add(b.String())
}
