package job

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exit statuses of a launcher, as shells and timeout(1) have them.
const (
	usage      = 2
	timedOut   = 124
	signalBase = 128
)

// A UsageError is a mistake in what the launcher was asked to do.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// ExitStatus is the status for the launcher to exit with.
func (e *UsageError) ExitStatus() int { return usage }

// A TimeoutError is a job that was not over in time.
type TimeoutError struct {
	Timeout time.Duration
	Running []int // ranks
	Early   bool  // before all ranks were started
}

func (e *TimeoutError) Error() string {
	if e.Early {
		return fmt.Sprintf("the job was not over within --timeout %v and was ended, before all ranks were started", e.Timeout)
	}
	if len(e.Running) == 0 {
		return fmt.Sprintf("the job was not over within --timeout %v, though all ranks have ended", e.Timeout)
	}
	return fmt.Sprintf("the job was not over within --timeout %v and was ended: still running: %s", e.Timeout, nameRanks(e.Running))
}

// ExitStatus is 124, as timeout(1) has it.
func (e *TimeoutError) ExitStatus() int { return timedOut }

// An InterruptError is a job that the user ended by a second signal, or by a first one when all
// ranks had ended.
type InterruptError struct {
	Signal syscall.Signal
	Second bool
	Early  bool // before all ranks were started
}

func (e *InterruptError) Error() string {
	if e.Early {
		return fmt.Sprintf("signal %d (%s), before all ranks were started: those that were have ended", int(e.Signal), unix.SignalName(e.Signal))
	}
	if !e.Second {
		return fmt.Sprintf("signal %d (%s), when all ranks had ended", int(e.Signal), unix.SignalName(e.Signal))
	}
	return fmt.Sprintf("a second signal %d (%s): all ranks were killed", int(e.Signal), unix.SignalName(e.Signal))
}

// ExitStatus is 128 and the signal's number.
func (e *InterruptError) ExitStatus() int { return signalBase + int(e.Signal) }

// An UnreadError is a job that is over, but whose output nobody reads: the rest of the output is
// lost.
type UnreadError struct{ Cause error } // why the job has failed, or why nobody waits for readers any more

func (e *UnreadError) Error() string {
	return e.Cause.Error() + " (nobody reads its output, the rest of which is lost)"
}

func (e *UnreadError) Unwrap() error { return e.Cause }

// LastWords is how long the reader of standard error may take for the last lines of a job that is to end now.
const LastWords = 500 * time.Millisecond

// Hurried reports whether a job that has ended so is to end now: the user has ended it, its time is over, or
// nobody reads its output.
func Hurried(err error) bool {
	_, late := errors.AsType[*TimeoutError](err)
	_, interrupted := errors.AsType[*InterruptError](err)
	_, unread := errors.AsType[*UnreadError](err)
	return late || interrupted || unread
}

// An OutputError is output that could not be passed on, which ends the job.
type OutputError struct {
	Rank  int // whose output it was
	Cause error
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("can not pass on the output of rank %d: %v", e.Rank, e.Cause)
}

func (e *OutputError) Unwrap() error { return e.Cause }

// ExitStatus is 1. Where the reader has gone away it is that of a program that SIGPIPE has ended.
func (e *OutputError) ExitStatus() int {
	if errors.Is(e.Cause, syscall.EPIPE) {
		return signalBase + int(syscall.SIGPIPE)
	}
	return 1
}

// A RankError is the failure of a rank that ended the job: the first one.
type RankError struct {
	Rank     int
	Hostname string
	PID      int
	How      Ending
	Code     int            // status or abort code
	Signal   syscall.Signal // if it was killed
	Message  string         // of an abort, or what was wrong
	Ended    int            // how many other ranks the launcher ended
}

// An Ending is how a rank failed.
type Ending uint8

const (
	Exited    Ending = iota // with a status that is not 0
	Killed                  // by a signal
	Aborted                 // asked for the end of the job
	Deserted                // exited with status 0, but without leaving the job in order
	Absent                  // exited with status 0, and has never joined the job that others are in
	Parted                  // closed its connection to the launcher but did not exit
	Misspoken               // said to the launcher what is no PMI-1
	Lost                    // its host can not be reached any more
)

func (e *RankError) Error() string {
	text := fmt.Sprintf("rank %d on host %s (pid %d) %s", e.Rank, e.Hostname, e.PID, e.how())
	switch {
	case e.Ended == 1:
		return text + "; the other rank still running was ended"
	case e.Ended > 1:
		return fmt.Sprintf("%s; the %d other ranks still running were ended", text, e.Ended)
	}
	return text
}

// how says what has become of the rank: "was killed by signal 9 (SIGKILL)".
func (e *RankError) how() string {
	var b strings.Builder
	switch e.How {
	case Exited:
		fmt.Fprintf(&b, "exited with status %d", e.Code)
	case Killed:
		fmt.Fprintf(&b, "was killed by signal %d (%s)", int(e.Signal), unix.SignalName(e.Signal))
	case Aborted:
		fmt.Fprintf(&b, "aborted with code %d", e.Code)
	case Deserted:
		b.WriteString("exited without calling finalize: its world was not closed")
	case Absent:
		b.WriteString("exited without joining the job, which other ranks are in: does its program use Strand, and " +
			"does what starts it pass on the environment and open files? env -i and sudo do not")
	case Parted:
		b.WriteString("closed its connection to the launcher without calling finalize, and runs on")
	case Misspoken:
		b.WriteString("broke the launcher's protocol")
	case Lost:
		b.WriteString("is lost")
	}
	if e.Message != "" {
		b.WriteString(": ")
		b.WriteString(e.Message)
	}
	return b.String()
}

// ExitStatus is the rank's own status, or 128 and the signal's number if a signal killed it. It
// is 1 where the rank's own status would say success.
func (e *RankError) ExitStatus() int {
	if e.How == Killed {
		return signalBase + int(e.Signal)
	}
	if status := e.Code & 0xff; status != 0 {
		return status
	}
	return 1
}

// nameRanks lists ranks. It leaves some out if they are many.
func nameRanks(ranks []int) string {
	const most = 16
	var names []string
	for _, r := range ranks[:min(len(ranks), most)] {
		names = append(names, fmt.Sprint(r))
	}
	word := "ranks "
	if len(ranks) == 1 {
		word = "rank "
	}
	text := word + strings.Join(names, ", ")
	if len(ranks) > most {
		text += fmt.Sprintf(" and %d more", len(ranks)-most)
	}
	return text
}
