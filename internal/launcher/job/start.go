package job

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/strandmp/strand/internal/launcher/local"
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
			return j.unstarted(rank, err)
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

// unstarted says why a rank could not be started.
func (j *job) unstarted(rank int, err error) error {
	err, lacking := local.Lacking(err, local.Files(j.config.Ranks, j.config.Trace != ""))
	if rank == 0 && !lacking {
		return local.Refusal(j.config.Program, err)
	}
	return fmt.Errorf("can not start rank %d of %d: %w", rank, j.config.Ranks, err)
}
