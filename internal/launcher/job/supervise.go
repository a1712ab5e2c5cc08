package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/launcher/local"
)

// settleTime is how long after the first failure a better explanation may
// come: a rank that sees another die may well exit before the launcher hears
// of that death.
const settleTime = 30 * time.Millisecond

// followTime is how long the launcher waits, after an abort that blames another rank, for the
// end of that rank. The end may never come: perhaps only a network has failed.
const followTime = 300 * time.Millisecond

// quitStatus is the status of a Go program that SIGQUIT has ended.
const quitStatus = 2

// dumpTime is how long ranks may take to say what their goroutines do, which SIGQUIT asks of
// them.
const dumpTime = 5 * time.Second

// A supervisor decides when a job is over and why. All of it belongs to one
// goroutine; what happens comes in as events.
type supervisor struct {
	*job
	state  []standing
	living int
	anyPMI bool // some rank has initialised

	verdict   error // why the job fails
	timeout   *time.Timer
	settle    *time.Timer
	grace     *time.Timer
	hurry     bool // do not wait for readers of the output
	awaiting  bool // a failure that the verdict follows from is waited for
	stopping  bool // the ranks were told to end
	passed    map[syscall.Signal]bool
	urgencies int                          // SIGINT and SIGTERM so far
	urgent    map[syscall.Signal]time.Time // when one of those came that was no twin

	explaining explaining
	earlier    explanation // the last one
}

// standing is what is known of a rank.
type standing struct {
	initialised, finalised, exited, failed bool
	told                                   bool // the others were told that it has failed

	after   int   // the rank whose failure has led to this one's, or -1
	callers []int // ranks that can not connect to it, and have had it asked to connect
}

func newSupervisor(j *job) *supervisor {
	s := &supervisor{
		job: j, state: make([]standing, len(j.ranks)), living: len(j.ranks),
		timeout: stoppedTimer(), settle: stoppedTimer(), grace: stoppedTimer(), passed: make(map[syscall.Signal]bool), urgent: make(map[syscall.Signal]time.Time),
	}
	for rank := range s.state {
		s.state[rank].after = -1
	}
	return s
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// run returns when all ranks have exited.
func (s *supervisor) run(ctx context.Context) {
	if s.config.Timeout > 0 {
		s.timeout.Reset(time.Until(s.begun.Add(s.config.Timeout))) // the start has taken some of it
	}
	defer s.settle.Stop()
	defer s.grace.Stop()
	done := ctx.Done()
	for _, sig := range s.early {
		if s.living > 0 {
			s.pass(sig)
		}
	}
	for s.living > 0 {
		select {
		case e := <-s.events:
			s.handle(e)
		case sig := <-s.config.Signals:
			s.pass(sig)
		case <-s.timeout.C:
			s.late()
		case <-s.config.overdue:
			s.late()
		case e := <-s.explaining.results:
			s.explained(e)
		case err := <-s.console.failure:
			s.unwritten(err)
		case <-s.settle.C:
			s.stop()
		case <-s.grace.C:
			s.signalAll(syscall.SIGKILL)
		case <-done:
			done = nil
			s.hurry = true
			s.endBecause(context.Cause(ctx))
		}
	}
	if !s.anyPMI && s.verdict == nil {
		s.logf("no rank has joined the job: one that uses Strand was a world of its own, as under env -i or sudo")
	}
	s.endExplaining()
	if s.passed[syscall.SIGQUIT] {
		s.repeatReasons()
	}
}

// late ends the job because its time is over. It says before what the ranks wait for.
func (s *supervisor) late() {
	s.hurry = true
	if s.verdict == nil {
		s.verdict = &TimeoutError{Timeout: s.config.Timeout, Running: s.running()}
	}
	s.explain(fmt.Sprintf("--timeout %v is over", s.config.Timeout), s.stop)
}

func (s *supervisor) handle(e event) {
	state := &s.state[e.rank]
	switch e.kind {
	case initialised:
		state.initialised = true
		s.anyPMI = true
	case finalised:
		state.finalised = true
		s.tellCallers(e.rank)
	case called:
		s.call(e.rank, e.whom)
	case aborted:
		if !state.failed {
			state.after = e.after
		}
		s.fail(e.rank, &RankError{How: Aborted, Code: e.code, Message: e.message})
		s.config.KeepGoing = false // an abort is the whole job's
		s.settleSoon()
	case misspoke:
		s.fail(e.rank, &RankError{How: Misspoken, Message: e.message})
	case parted:
		if state.initialised && !state.finalised && !state.exited {
			s.fail(e.rank, &RankError{How: Parted})
		}
	case exited:
		state.exited = true
		s.living--
		s.judgeExit(e)
	}
	s.judgeDesertion()
}

// judgeExit looks at how a rank ended by itself.
func (s *supervisor) judgeExit(e event) {
	rank, status := e.rank, e.status
	s.logExit(e)
	if errors.Is(e.lost, local.ErrBeyond) {
		s.notes.add(fmt.Sprintf("strand run: rank %d on host %s (pid %d): %v\n", rank, s.hostOf(rank), s.ranks[rank].PID(), e.lost))
	}
	var failure *RankError
	switch {
	case e.lost != nil:
		failure = &RankError{How: Lost, Message: e.lost.Error()}
	case status.Signaled():
		failure = &RankError{How: Killed, Signal: status.Signal()}
		if s.passed[status.Signal()] {
			failure.Message = "passed on by the launcher"
		}
	case status.ExitStatus() != 0:
		failure = &RankError{How: Exited, Code: status.ExitStatus()}
		if s.passed[syscall.SIGQUIT] && failure.Code == quitStatus {
			failure.Message = "as SIGQUIT tells a Go program to, passed on by the launcher"
		}
	default:
		return
	}
	if s.stopping {
		s.lateCause(rank, failure)
		return
	}
	s.fail(rank, failure)
}

// lateCause takes the end of a rank for the cause, though the launcher had begun to end the job
// when it heard of it. It does so if the verdict follows from that rank, and the end does not
// come from the launcher's own signals.
func (s *supervisor) lateCause(rank int, failure *RankError) {
	earlier, isRank := errors.AsType[*RankError](s.verdict)
	told := failure.How == Killed && (failure.Signal == syscall.SIGTERM || failure.Signal == syscall.SIGKILL)
	if told || !isRank || s.state[rank].failed || s.cause(earlier) != rank {
		return
	}
	s.state[rank].failed = true
	failure.Rank, failure.Hostname, failure.PID = rank, s.hostOf(rank), s.ranks[rank].PID()
	failure.Ended = max(0, earlier.Ended-1) // it was counted as running
	s.verdict = failure
}

func (s *supervisor) logExit(e event) {
	switch {
	case e.lost != nil:
		s.logf("rank %d: %v", e.rank, e.lost)
	case e.status.Signaled():
		s.logf("rank %d: ended by %s", e.rank, unix.SignalName(e.status.Signal()))
	default:
		s.logf("rank %d: exited with status %d", e.rank, e.status.ExitStatus())
	}
}

// judgeDesertion finds ranks that exited with status 0 without leaving a job that others are in:
// those would wait for them for ever. A program of which no rank has joined the job does not use
// PMI, and may do so.
func (s *supervisor) judgeDesertion() {
	if !s.anyPMI || s.stopping {
		return
	}
	for rank := range s.state {
		if state := &s.state[rank]; state.exited && !state.finalised && !state.failed {
			how := Deserted
			if !state.initialised {
				how = Absent
			}
			s.fail(rank, &RankError{How: how})
		}
	}
}

// fail notes a rank's failure. The first failure explains the end of the job, with two
// exceptions (explainsBetter): one that did not follow from another explains better than one
// that did, and a kill by a signal explains better than anything else.
func (s *supervisor) fail(rank int, failure *RankError) {
	if s.stopping || s.state[rank].failed {
		return
	}
	s.state[rank].failed = true
	failure.Rank, failure.Hostname, failure.PID = rank, s.hostOf(rank), s.ranks[rank].PID()
	s.logf("%v", failure)
	earlier, isRank := errors.AsType[*RankError](s.verdict)
	if s.verdict == nil || isRank && s.explainsBetter(rank, failure, earlier) {
		s.verdict = failure
	}
	if s.config.KeepGoing && failure.How != Aborted {
		s.server.MarkDead(rank)
		s.tell(failure)
		return
	}
	s.settleSoon()
}

// explainsBetter compares a new failure with the one that was to blame so far.
func (s *supervisor) explainsBetter(rank int, failure, earlier *RankError) bool {
	if killed := failure.How == Killed; killed != (earlier.How == Killed) {
		return killed
	}
	return s.state[earlier.Rank].after >= 0 && s.state[rank].after < 0
}

// cause follows the blame from the verdict's rank, over however many others, to the rank where
// it began; -1 if they blame each other.
func (s *supervisor) cause(verdict *RankError) int {
	rank := verdict.Rank
	for range s.state {
		if s.state[rank].after < 0 {
			return rank
		}
		rank = s.state[rank].after
	}
	return -1
}

// awaitsCause reports whether the verdict follows from the failure of a rank that is not known
// to have failed yet.
func (s *supervisor) awaitsCause(verdict *RankError) bool {
	rank := s.cause(verdict)
	return rank >= 0 && !s.state[rank].failed
}

// settleSoon ends the job when no better explanation is to be expected.
func (s *supervisor) settleSoon() {
	failure, isRank := errors.AsType[*RankError](s.verdict)
	switch {
	case isRank && failure.How == Killed:
		s.stop() // no better explanation will come
	case isRank && s.awaitsCause(failure):
		if !s.awaiting {
			s.awaiting = true
			s.settle.Reset(followTime)
		}
	case s.passed[syscall.SIGQUIT]:
		s.settle.Reset(dumpTime)
	default:
		s.settle.Reset(settleTime)
	}
}

// endBecause ends the job for a reason that is not a rank's.
func (s *supervisor) endBecause(reason error) {
	if s.verdict == nil {
		s.verdict = reason
	}
	s.stop()
}

// unwritten ends the job because its output can not be passed on.
func (s *supervisor) unwritten(reason error) {
	if !s.wasInterrupted(reason) {
		s.endBecause(reason)
	}
}

// wasInterrupted reports whether output can not be passed on because Ctrl-C has ended its reader too (strand run … | tee). Then the
// ranks are ending already, and have their time.
func (s *supervisor) wasInterrupted(reason error) bool {
	return s.urgencies > 0 && errors.Is(reason, syscall.EPIPE)
}

// stop asks the living ranks to end. Those that do not within the grace are killed.
func (s *supervisor) stop() {
	if s.stopping {
		return
	}
	s.stopping = true
	if failure, isRank := errors.AsType[*RankError](s.verdict); isRank {
		for _, state := range s.state {
			if !state.exited && !state.failed {
				failure.Ended++
			}
		}
	}
	s.signalAll(syscall.SIGTERM)
	s.signalAll(syscall.SIGCONT) // a stopped process would not see SIGTERM
	if failure, isRank := errors.AsType[*RankError](s.verdict); isRank {
		s.tell(failure)
	}
	s.grace.Reset(s.config.grace())
}

// pass hands a signal to all ranks.
func (s *supervisor) pass(sig os.Signal) {
	number, isNumber := sig.(syscall.Signal)
	if !isNumber {
		return
	}
	if s.isTwin(number) {
		return
	}
	if number == syscall.SIGINT || number == syscall.SIGTERM {
		if s.urgencies++; s.urgencies > 1 {
			s.hurry = true
			s.endBecause(&InterruptError{Signal: number, Second: true})
			s.signalAll(syscall.SIGKILL)
			return
		}
	}
	if number == syscall.SIGQUIT {
		s.explain("SIGQUIT, which is passed on next", func() { s.handOn(number) })
		return
	}
	s.handOn(number)
}

// twinTime is how soon after a signal another one is the same. Who ends a command by timeout(1) sends two at once: one
// to the process, one to its group. Nobody types Ctrl-C twice as soon.
const twinTime = 100 * time.Millisecond

// isTwin reports whether a SIGINT or SIGTERM that has come now belongs to the one before.
func (s *supervisor) isTwin(number syscall.Signal) bool {
	if number != syscall.SIGINT && number != syscall.SIGTERM {
		return false
	}
	if last, came := s.urgent[number]; came && time.Since(last) < twinTime {
		return true
	}
	s.urgent[number] = time.Now()
	return false
}

// handOn passes a signal on to the ranks.
func (s *supervisor) handOn(number syscall.Signal) {
	s.logf("passing on %s", unix.SignalName(number))
	s.passed[number] = true
	s.signalAll(number)
	if number == syscall.SIGTSTP && s.config.Suspend != nil {
		s.pause()
		s.signalAll(syscall.SIGCONT)
	}
}

// pause stops this process until it goes on. That time is none of the job's.
func (s *supervisor) pause() {
	counting, stopped := s.timeout.Stop(), time.Now()
	s.suspend()
	if counting {
		s.begun = s.begun.Add(time.Since(stopped))
		s.timeout.Reset(time.Until(s.begun.Add(s.config.Timeout)))
	}
}

// drain waits until the ranks' output is written. The ranks have ended, but a reader may not
// read. So a signal, the timeout or the end of the context ends the wait.
func (s *supervisor) drain(ctx context.Context, written <-chan struct{}) {
	defer s.timeout.Stop()
	patience, ended := stoppedTimer(), ctx.Done()
	defer patience.Stop()
	if s.hurry {
		patience.Reset(2 * local.LastWordsTime) // one LastWordsTime is for processes that have left the ranks' groups
		ended = nil
	}
	for {
		var reason error
		select {
		case <-written:
			return
		case sig := <-s.config.Signals:
			number, _ := sig.(syscall.Signal)
			if s.isTwin(number) {
				continue
			}
			switch number {
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
				reason = &InterruptError{Signal: number}
			case syscall.SIGTSTP:
				if s.config.Suspend != nil {
					s.pause()
				}
				continue
			default:
				continue
			}
		case <-s.timeout.C:
			reason = &TimeoutError{Timeout: s.config.Timeout}
		case <-ended:
			reason = context.Cause(ctx)
		case <-patience.C:
		}
		if s.verdict == nil {
			s.verdict = reason
		}
		s.verdict = &UnreadError{s.verdict}
		close(s.console.givenUp)
		<-written
		return
	}
}

func (s *supervisor) signalAll(sig syscall.Signal) {
	for rank, p := range s.ranks {
		if !s.state[rank].exited {
			p.Signal(sig)
		}
	}
}

func (s *supervisor) running() []int {
	var ranks []int
	for rank := range s.state {
		if !s.state[rank].exited {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
