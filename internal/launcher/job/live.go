package job

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/openfiles"
)

// reportTimeout is how long a rank may take to give its report. A stopped rank gives none, nor
// does a program that does not use Strand.
const reportTimeout = time.Second

var errNoReport = fmt.Errorf("does not answer within %v: it is stopped, or does not use Strand", reportTimeout)

// serveLive answers questions about the job until the returned function is called. If it can not
// listen, the job runs all the same.
func (j *job) serveLive() (stop func()) {
	if j.config.LiveDir == "" {
		return func() {}
	}
	listener, err := live.Listen(j.config.LiveDir, j.name)
	if err != nil {
		j.logf("strand info --live will not show this job: %v", err)
		return func() {}
	}
	about := live.Job{Name: j.name, PID: os.Getpid(), Program: filepath.Base(j.path), Host: j.hostname, Size: j.config.Ranks}
	ctx, cancel := context.WithCancel(context.Background())
	j.working.Go(func() {
		for {
			conn, err := j.acceptLive(ctx, listener)
			if err != nil {
				return
			}
			// Somebody who asks and does not read must not hold up the end of the job.
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			ranks := j.reports(ctx)
			about.Started = time.Now().Add(-time.Since(j.begun)).Truncate(time.Second) // by the clock as it is now: it may have been set
			live.Tell(conn, about, ranks)
			stop()
		}
	})
	return func() {
		cancel()
		_ = listener.Close() // this removes the socket
	}
}

// livePause is how long a job without a free descriptor waits before it tries to accept again.
const livePause = 200 * time.Millisecond

// acceptLive returns the next connection, or an error when the job is over.
func (j *job) acceptLive(ctx context.Context, listener net.Listener) (net.Conn, error) {
	for told := false; ; {
		conn, err := listener.Accept()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		if !told {
			told = true
			j.logf("strand info --live can not ask this job at the moment: %v", openfiles.Explain(err))
		}
		select {
		case <-time.After(livePause):
		case <-ctx.Done():
		}
	}
}

// reports asks all ranks at once, but those that are in Init. Other hosts may take long to start theirs.
func (j *job) reports(ctx context.Context) []live.Rank {
	ctx, cancel := context.WithTimeoutCause(ctx, reportTimeout, errNoReport)
	defer cancel()
	all := make([]live.Rank, j.config.Ranks)
	for rank := range all {
		all[rank] = live.Rank{Rank: rank, Silent: "is not started yet"}
		if len(j.config.Elsewhere) > 0 {
			all[rank].Host = j.hostOf(rank)
		}
	}
	select {
	case <-j.started:
	case <-ctx.Done():
		return all
	}
	asked := make([]bool, len(j.ranks))
	for i, p := range j.ranks {
		all[i].PID, asked[i] = p.PID(), true
	}
	j.meeting(all, asked)
	j.ask(ctx, all, asked)
	return all
}

// ask asks some of the ranks for their reports, all at once.
func (j *job) ask(ctx context.Context, all []live.Rank, whom []bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, reportTimeout, errNoReport)
	defer cancel()
	var asking sync.WaitGroup
	for i, p := range j.ranks {
		if !whom[i] {
			continue
		}
		all[i].Silent = ""
		asking.Go(func() {
			report, err := p.line.Ask(ctx)
			all[i].Report = report
			switch {
			case errors.Is(err, control.ErrEnded):
				all[i].Silent, all[i].Ended = "has ended, or has left the job", true
			case err != nil:
				all[i].Silent = err.Error()
			}
		})
	}
	asking.Wait()
}
