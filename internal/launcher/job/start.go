package job

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/openfiles"
)

// startAll starts the ranks on this host, one after the other, on a thread that lives as long as
// the job (see [local.Start]).
func (j *job) startAll(input *os.File) error {
	started := make(chan error)
	j.working.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- j.startEach(input)
		<-j.over
	})
	return <-started
}

func (j *job) startEach(input *os.File) error {
	environ := j.config.environ(j.name)
	for rank := range j.config.Ranks {
		c := j.command(rank)
		c.Environ, c.Stdin = environ, input
		p, err := local.Start(c)
		if err != nil {
			return j.explainStart(rank, err)
		}
		input = nil
		j.ranks = append(j.ranks, j.newProcess(rank, p, p.PMI, p.Control, p.Output[0], p.Output[1]))
		j.logf("rank %d on host %s: started, pid %d", rank, j.hostOf(rank), p.PID())
		if p.Untied != nil {
			j.logf("what rank %d starts may outlive this launcher if that is killed: %v", rank, p.Untied)
		}
	}
	return nil
}

// command returns what to start for a rank of this host.
func (j *job) command(rank int) local.Command {
	c := local.Command{
		Path: j.path, Args: append([]string{j.config.Program}, j.config.Args...),
		Rank: rank, Size: j.config.Ranks, LocalRank: rank, LocalRanks: j.config.Ranks,
		Processor: local.Turn(j.config.Bind, rank), Trace: j.config.traceSize(),
	}
	if j.config.Prefix != nil {
		words := append(slices.Clip(j.config.Prefix(rank)), j.path)
		c.Path, c.Args = words[0], append(words, c.Args[1:]...)
		c.LocalRank, c.LocalRanks = 0, 1
	}
	return c
}

// How many descriptors the launcher needs. For each rank: two connections, two ends of its
// output, its lifeline and two handles of its process. For the job: its own files, and those that
// are open for a moment while a rank starts.
const (
	filesPerRank = 7
	filesOfJob   = 24
)

// files is how many that are. The ring of a trace is one more for each rank.
func (c *Config) files() int {
	each := filesPerRank
	if c.Trace != "" {
		each++
	}
	return each*c.Ranks + filesOfJob
}

// explainStart says why a rank could not be started, and what to do about it.
func (j *job) explainStart(rank int, err error) error {
	switch {
	case openfiles.Exhausted(err):
		return fmt.Errorf("can not start rank %d of %d: %w; the launcher needs about %d for this job",
			rank, j.config.Ranks, openfiles.Explain(err), j.config.files())
	case rank == 0:
		return local.Refusal(j.config.Program, err)
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("can not start rank %d of %d: %w (the limit of processes and threads of this user is reached: raise it with ulimit -u, or of this container)",
			rank, j.config.Ranks, err)
	}
	return fmt.Errorf("can not start rank %d of %d: %w", rank, j.config.Ranks, err)
}
