package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/launch"
	"github.com/strandmp/strand/param"
)

// atOnce is how many remote shells are begun at a time. From ten on that have not proved themselves sshd refuses some at
// random (MaxStartups), and all may go through one: a jump host's.
const atOnce = 10

// hosts returns the number of the host of each rank.
func (c *Config) hosts() []int {
	nodes := make([]int, c.Ranks)
	for n, share := range c.Elsewhere {
		for _, rank := range share.Ranks {
			nodes[rank] = n
		}
	}
	if len(c.Elsewhere) == 0 && c.Prefix != nil {
		for rank := range nodes {
			nodes[rank] = rank
		}
	}
	return nodes
}

// startElsewhere starts the ranks on their hosts. A signal, the timeout or the end of the context
// ends the wait for hosts that do not answer, or do not start theirs. A signal that ends nothing, Ctrl-Z for
// example, waits for the ranks, as it does on one host.
func (j *job) startElsewhere(ctx context.Context, input *os.File) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if j.config.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, j.begun.Add(j.config.Timeout), &TimeoutError{Timeout: j.config.Timeout, Early: true})
		defer stop()
	}
	done := make(chan error, 1)
	go func() {
		err := j.reachHosts(ctx)
		if err == nil {
			err = j.startOnHosts(ctx, input)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		case sig := <-j.config.Signals:
			switch number, _ := sig.(syscall.Signal); number {
			case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
				cancel(&InterruptError{Signal: number, Early: true})
			}
			j.early = append(j.early, sig) // the ranks may just have been started
		}
	}
}

// reachHosts has strand started on all hosts.
func (j *job) reachHosts(ctx context.Context) error {
	j.lines = make([]*remote.Line, len(j.config.Elsewhere))
	err := j.onHosts(func(i int, share Share) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		host := share.Host
		host.Timeout = j.config.HostTimeout
		line, err := remote.Connect(ctx, host, j.config.Build, j.notes.add)
		if err != nil {
			return err
		}
		j.lines[i] = line
		j.logf("host %s: reached, %s %s, %d processors", share.Host.Name, line.Peer.Machine.OS, line.Peer.Machine.Arch, line.Peer.Machine.CPUs)
		return nil
	})
	if err == nil {
		return nil
	}
	var leaving sync.WaitGroup
	for _, line := range j.lines {
		if line != nil {
			leaving.Go(func() { _ = line.Leave() })
		}
	}
	leaving.Wait()
	j.lines = nil
	return err
}

// onHosts calls f for all hosts, some of them at a time. It joins their errors.
func (j *job) onHosts(f func(i int, share Share) error) error {
	turns := make(chan struct{}, atOnce)
	errs := make([]error, len(j.config.Elsewhere))
	var calls sync.WaitGroup
	for i, share := range j.config.Elsewhere {
		calls.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			errs[i] = f(i, share)
		})
	}
	calls.Wait()
	names := make([]string, 0, len(errs))
	for _, share := range j.config.Elsewhere {
		names = append(names, share.Host.Name)
	}
	return joinErrors(names, errs)
}

// startOnHosts starts the ranks.
func (j *job) startOnHosts(ctx context.Context, input *os.File) error {
	ranks := make([]*process, j.config.Ranks)
	err := j.onHosts(func(i int, share Share) error {
		o := remote.Order{
			Program: j.config.Program, Args: j.config.Args, Dir: j.config.Dir, Environ: j.config.environElsewhere(j.name),
			Size: j.config.Ranks, Ranks: share.Ranks, Bind: j.config.Bind, Trace: j.config.traceSize(), Grace: j.config.grace(),
		}
		var stdin, pushed io.Reader
		if share.Ranks[0] == 0 && input != nil {
			o.Stdin, stdin = true, input
		}
		if j.config.Push {
			f, size, err := openProgram(j.path)
			if err != nil {
				return err
			}
			defer f.Close()
			o.Pushed, pushed = size, f
		}
		started, err := j.lines[i].Start(ctx, o, stdin, pushed)
		if err != nil {
			return err
		}
		for n, r := range started {
			rank := share.Ranks[n]
			ranks[rank] = j.newProcess(rank, r, r.PMI(), r.Control(), r.Output()[0], r.Output()[1])
			j.logf("rank %d on host %s: started, pid %d", rank, share.Host.Name, r.PID())
		}
		return nil
	})
	if err == nil {
		j.ranks = ranks
		return nil
	}
	j.leaveHosts() // which ends what has started
	return err
}

func openProgram(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: only a file can be brought to other hosts", path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// leaveHosts ends the connections to other hosts.
func (j *job) leaveHosts() {
	var leaving sync.WaitGroup
	for _, line := range j.lines {
		leaving.Go(line.Close)
	}
	leaving.Wait()
	j.lines = nil
}

// suspend stops this process, until it goes on again. Strand on other hosts waits for it.
func (j *job) suspend() {
	for _, line := range j.lines {
		line.Asleep(true)
	}
	j.config.Suspend()
	for _, line := range j.lines {
		line.Asleep(false)
	}
}

// environElsewhere returns what is added to the environment of ranks on other hosts.
func (c *Config) environElsewhere(job string) []string {
	var env []string
	for _, entry := range c.variables() {
		if strings.HasPrefix(entry, param.EnvName("")) {
			env = append(env, entry)
		}
	}
	for _, entry := range c.Environ {
		name, _, isSet := strings.Cut(entry, "=")
		if !isSet {
			entry = name + "=" + os.Getenv(name)
		}
		env = append(env, entry)
	}
	env = append(env, launch.JobEnv+"="+job)
	if len(c.Flags) > 0 {
		env = append(env, param.FlagsEnv(c.Flags))
	}
	return env
}
