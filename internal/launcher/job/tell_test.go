package job

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/launcher/pmi"
	"github.com/strandmp/strand/internal/test/transcript"
	"github.com/strandmp/strand/launch"
)

// gone is the rank that fails in these tests.
const gone = 2

// playWorld runs a rank's part of a program.
func playWorld(play func(context.Context, *strand.World) error) {
	ctx, cancel := context.WithTimeout(context.Background(), forever)
	defer cancel()
	if err := strand.Run(ctx, play); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playTold has one rank end in some way, without having talked to anybody, while
// all others wait for it; afterwards they talk to each other.
func playTold(end func(*strand.World)) {
	playWorld(func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		if w.Rank() == gone {
			end(w)
		}
		for _, source := range []int{gone, strand.AnySource} {
			_, err := c.Recv(ctx, buf, source, 1)
			failed, isFailed := errors.AsType[*strand.PeerFailedError](err)
			cause, isLaunchers := errors.AsType[*launch.Failure](err)
			if host, _ := os.Hostname(); !isFailed || !isLaunchers || failed.WorldRank != gone || failed.Host != host {
				return fmt.Errorf("receive from %d: %w", source, err)
			}
			fmt.Printf("told at %s: %v, signal %d, status %d\n", time.Now().Format(time.StampMicro), failed, cause.Signal, cause.Status)
		}
		if err := c.AckFailed(); err != nil {
			return err
		}
		next := (w.Rank() + 1) % w.Size()
		if next == gone {
			next = (next + 1) % w.Size()
		}
		sent, err := c.Isend(buf, next, 2) // another tag: not all may have been told yet
		if err != nil {
			return err
		}
		if _, err := c.Recv(ctx, buf, strand.AnySource, 2); err != nil {
			return err
		}
		_, err = sent.Wait(ctx)
		return err
	})
}

// Whoever waits for a rank that ends learns at once that it has, and how; the
// others go on.
func TestSurvivorsAreTold(t *testing.T) {
	for _, tc := range []struct {
		role, says string
		how        Ending
	}{
		{"told: kill", "rank 2 on %s has failed: it was killed by signal 9 (SIGKILL) (strand run), signal 9, status 0", Killed},
		{"told: exit", "rank 2 on %s has failed: it exited with status 3 (strand run), signal 0, status 3", Exited},
		{"told: leave", "rank 2 on %s has failed: it exited without calling finalize: its world was not closed (strand run), signal 0, status 0", Deserted},
	} {
		t.Run(tc.role, func(t *testing.T) {
			c, out := playing(t, tc.role, 4)
			c.KeepGoing = true
			var failure *RankError
			require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
			assert.Equal(t, gone, failure.Rank)
			assert.Equal(t, tc.how, failure.How, "%s", out)
			host, _ := os.Hostname()
			assert.Equal(t, 2*3, strings.Count(out.String(), fmt.Sprintf(tc.says, host)), "%s", out)
		})
	}
}

// playLastWords has a rank die right after it has sent.
func playLastWords() {
	const messages, size = 5, 5_000 // none is held back, all fit into the windows
	playWorld(func(ctx context.Context, w *strand.World) error {
		c := w.Comm()
		switch w.Rank() {
		case gone:
			if err := c.Ssend(ctx, nil, 0, 0); err != nil {
				return err
			}
			for i := range messages {
				if err := c.Send(ctx, make([]byte, size), 0, i); err != nil {
					return err
				}
			}
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case 0:
			if _, err := c.Recv(ctx, nil, gone, 0); err != nil {
				return err
			}
			n := 0
			for buf := make([]byte, size); ; n++ {
				if _, err := c.Recv(ctx, buf, gone, n); errors.Is(err, strand.ErrPeerFailed) {
					break
				} else if err != nil {
					return err
				}
			}
			fmt.Printf("%d messages came\n", n)
		}
		return nil
	})
}

// What a rank has sent before it died arrives, though the launcher's word may be
// quicker.
func TestLastWordsAreHeard(t *testing.T) {
	for range 10 {
		c, out := playing(t, "told: last", 3)
		c.KeepGoing = true
		var failure *RankError
		require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
		require.Equal(t, "5 messages came\n", out.String())
	}
}

// playClosed has one rank leave in order; that is no failure.
func playClosed() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		switch w.Rank() {
		case gone:
			return c.Send(ctx, nil, 0, os.Getpid())
		case 0:
			st, err := c.Probe(ctx, gone, strand.AnyTag)
			if err != nil {
				return err
			}
			if _, err := c.Recv(ctx, nil, gone, st.Tag); err != nil {
				return err
			}
			if _, err := c.Recv(ctx, buf, gone, 0); !errors.Is(err, strand.ErrPeerClosed) || errors.Is(err, strand.ErrPeerFailed) {
				return fmt.Errorf("receive from a rank that has closed its world: %w", err)
			}
			for tick := time.Tick(time.Millisecond); !ended(st.Tag); {
				<-tick
			}
			return c.Send(ctx, buf, 1, 1)
		}
		if w.Rank() == 1 {
			_, err := c.Recv(ctx, buf, strand.AnySource, 1)
			return err
		}
		return nil
	})
}

func TestLeavingInOrderIsNoFailure(t *testing.T) {
	c, out := playing(t, "told: close", 4)
	c.KeepGoing = true
	require.NoError(t, Run(context.Background(), c), "%s", out)
	assert.Empty(t, out.String())
}

// playToldAtTheEnd catches SIGTERM, as a program does that saves its state.
func playToldAtTheEnd() {
	signal.Ignore(syscall.SIGTERM)
	playWorld(func(ctx context.Context, w *strand.World) error {
		if err := w.Comm().Barrier(ctx); err != nil {
			return err
		}
		if w.Rank() == gone {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		_, err := w.Comm().Recv(ctx, nil, gone, 1)
		if cause, isLaunchers := errors.AsType[*launch.Failure](err); isLaunchers {
			fmt.Printf("told that it %s\n", cause.How)
		}
		return nil
	})
}

// A rank that is ended because another one failed learns which that was, if it outlives the
// first signal.
func TestToldBeforeTheEnd(t *testing.T) {
	c, out := playing(t, "told: term", 3)
	c.Grace = time.Minute
	var failure *RankError
	require.ErrorAs(t, Run(context.Background(), c), &failure, "%s", out)
	assert.Equal(t, strings.Repeat("told that it was killed by signal 9 (SIGKILL)\n", 2), out.String())
}

// The others are told of a failure when it comes, and not again when the job ends.
func TestToldOnce(t *testing.T) {
	s, heard := toldSupervisor(t)
	s.handle(event{kind: exited, rank: 2, status: 9})
	s.handle(abortAfter(1, -1))
	s.stop()
	assert.Equal(t, []string{"rank 2 has failed"}, heard())
}

// toldSupervisor goes on after failures. It returns what rank 0 has been told, and ends its line.
func toldSupervisor(t *testing.T) (s *supervisor, heard func() []string) {
	s = newTestSupervisor(t)
	s.config.KeepGoing = true
	var err error
	s.server, err = pmi.NewServer("job", 4, s.job)
	require.NoError(t, err)
	t.Cleanup(s.server.Close)
	near, far := net.Pipe()
	s.ranks[0].line = control.NewLine(near)
	const lastWord = 99
	said, member := make(chan []string, 1), control.NewMember(far)
	go func() {
		var all []string
		_ = member.Serve(control.Callbacks{ // until the last word
			Failed: func(f control.Failure) {
				if f.Rank == lastWord {
					member.Close()
					return
				}
				all = append(all, fmt.Sprintf("rank %d has failed", f.Rank))
			},
			Left:   func(d control.Departure) { all = append(all, fmt.Sprintf("rank %d on %s has left", d.Rank, d.Host)) },
			Called: func(by int) { all = append(all, fmt.Sprintf("rank %d calls", by)) },
		})
		said <- all
	}()
	return s, func() []string {
		s.ranks[0].line.Tell(control.Failure{Rank: lastWord})
		defer s.ranks[0].line.Close()
		return <-said
	}
}

// Who calls a rank that has left in order, or leaves later, is told so, whatever became of that one's
// process then. Who was told of its failure is told nothing else, and who has left himself is told nothing.
func TestCallerIsToldWhoHasLeft(t *testing.T) {
	closes := event{kind: finalised, rank: 2}
	calls := func(by, whom int) event { return event{kind: called, rank: by, whom: whom} }
	exits := func(status syscall.WaitStatus) event { return event{kind: exited, rank: 2, status: status} }
	left := []string{"rank 2 on node has left"}
	for name, tc := range map[string]struct {
		events []event
		told   []string
	}{
		"before":                        {[]event{closes, calls(0, 2)}, left},
		"before, and has ended":         {[]event{closes, exits(0), calls(0, 2)}, left},
		"before, and has failed since":  {[]event{closes, exits(7 << 8), calls(0, 2)}, left},
		"since":                         {[]event{calls(0, 2), closes}, left},
		"since, after two calls":        {[]event{calls(0, 2), calls(0, 2), closes, exits(0)}, left},
		"not at all":                    {[]event{calls(0, 2)}, nil},
		"it fails":                      {[]event{calls(0, 2), exits(9)}, []string{"rank 2 has failed"}},
		"it has failed":                 {[]event{exits(9), calls(0, 2)}, []string{"rank 2 has failed"}},
		"another one has called":        {[]event{calls(1, 2), closes}, nil},
		"the caller leaves":             {[]event{calls(0, 2), {kind: finalised, rank: 0}, closes}, nil},
		"there is no such rank":         {[]event{calls(0, 4), calls(0, -1), calls(0, 0)}, nil},
		"it is this one that is called": {[]event{calls(2, 0)}, []string{"rank 2 calls"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, heard := toldSupervisor(t)
			s.config.Hostname = func(int) string { return "node" }
			for rank := range s.state {
				s.handle(event{kind: initialised, rank: rank})
			}
			for _, e := range tc.events {
				s.handle(e)
			}
			assert.Equal(t, tc.told, heard())
		})
	}
}

// playUnmet has one rank leave in order, having met rank 1 only. Others make contact with it when its process
// has ended.
func playUnmet() {
	playWorld(func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		const pid, word = 1, 2
		switch w.Rank() {
		case gone:
			return strand.Send(ctx, c, []int64{int64(os.Getpid())}, 1, pid)
		case 1:
			var of [1]int64
			if _, _, err := strand.Recv(ctx, c, of[:], gone, pid); err != nil {
				return err
			}
			for tick := time.Tick(time.Millisecond); !ended(int(of[0])); {
				<-tick
			}
			if err := c.Send(ctx, nil, 0, word); err != nil {
				return err
			}
			return c.Send(ctx, nil, 3, word)
		}
		if _, err := c.Recv(ctx, buf, 1, word); err != nil {
			return err
		}
		if w.Rank() == 3 {
			_, err := c.Recv(ctx, buf, gone, word)
			if err := checkLeft("receive", err); err != nil {
				return err
			}
			return c.Send(ctx, nil, 0, word)
		}
		if err := checkLeft("send", c.Ssend(ctx, buf, gone, word)); err != nil {
			return err
		}
		if _, err := c.Recv(ctx, buf, strand.AnySource, word); err != nil {
			return fmt.Errorf("the others have not failed either: %w", err)
		}
		return nil
	})
}

// checkLeft prints the error of an operation with a rank that has left.
func checkLeft(what string, err error) error {
	if !errors.Is(err, strand.ErrPeerClosed) || errors.Is(err, strand.ErrPeerFailed) {
		return fmt.Errorf("%s with a rank that has left: %w", what, err)
	}
	fmt.Printf("%s: %v\n", what, err)
	return nil
}

// First contact with a rank that has left says so: it has not failed.
func TestFirstContactWithWhoHasLeft(t *testing.T) {
	for name, c := range map[string]func() (Config, *transcript.Output){
		"here":      func() (Config, *transcript.Output) { return playing(t, "unmet", 4) },
		"elsewhere": func() (Config, *transcript.Output) { c, out, _ := elsewhere(t, "unmet"); return c, out },
	} {
		t.Run(name, func(t *testing.T) {
			c, out := c()
			require.NoError(t, Run(context.Background(), c), "%s", out)
			host, _ := os.Hostname()
			for _, what := range []string{"send", "receive"} {
				assert.Contains(t, out.String(), what+": rank 2 on "+host+" has closed its world: it neither sends nor receives any more\n")
			}
		})
	}
}
