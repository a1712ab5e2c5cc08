package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/strandmp/strand/internal/lines"
)

// startTimeout is how long the processes may take to start and connect.
const startTimeout = time.Minute

// A Job is processes that can be measured again and again.
type Job interface {
	// Run carries out an order.
	Run(ctx context.Context, o Order) (Outcome, error)
	// Close ends the processes and says if that went wrong.
	Close() error
}

// An Outcome is what the iterations of an order took, without the warm-up.
type Outcome struct {
	Took      time.Duration // of several pairs, from the first one's start to the last one's end
	Processor time.Duration // of all processes, user and system; 0: not known
}

// A launcher starts processes that take orders from a socket, and returns
// when all have ended. What they print goes to the output.
type launcher func(ctx context.Context, ranks int, socket string, output *lines.Beginning) error

// servedJob is processes that take orders.
type servedJob struct {
	name    string
	members []*member
	cancel  context.CancelFunc
	ended   chan struct{} // closed when all processes have
	failure error         // why, once they have
	output  *lines.Beginning
	dir     string
}

// member is the connection to one of the processes.
type member struct {
	conn  net.Conn
	lines *bufio.Reader
}

// startJob starts so many processes, whose socket is in a folder, and waits until all are ready for orders.
func startJob(ctx context.Context, dir, name string, ranks int, launch launcher) (*servedJob, error) {
	dir, err := os.MkdirTemp(dir, jobFolder)
	if err != nil {
		return nil, err
	}
	j := &servedJob{name: name, members: make([]*member, ranks), ended: make(chan struct{}), dir: dir, output: lines.NewBeginning(maxOutput)}
	socket := filepath.Join(dir, ordersSocket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), os.RemoveAll(dir))
	}
	defer listener.Close()
	ctx, j.cancel = context.WithCancel(ctx)
	go func() {
		j.failure = launch(ctx, ranks, socket, j.output)
		close(j.ended)
		listener.Close() // nobody will come any more
	}()
	if err := j.accept(listener); err != nil {
		j.cancel()
		<-j.ended
		return nil, errors.Join(j.explain(fmt.Errorf("did not start: %w", err)), j.Close())
	}
	return j, nil
}

const (
	ordersSocket = "orders"
	longestPath  = 103 // of a socket, that all systems take
	jobFolder    = "job-"
	// deepest is the longest path of a socket in a folder of [NewFolder]: in that of strand bench peers for a peer.
	deepest = "tcp-openmpi-64/" + jobFolder + "0123456789/" + ordersSocket
)

// NewFolder makes a folder for this user only, in the one for temporary files or, if that has too long a path for sockets
// below it, as in a build's or a batch job's own, in /tmp. Who calls it removes it.
func NewFolder() (dir string, err error) {
	const pattern = "strand-bench-"
	dir, err = os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("a folder for sockets: %w; TMPDIR is to name one that can be written", err)
	}
	if len(filepath.Join(dir, deepest)) <= longestPath {
		return dir, nil
	}
	if err := os.Remove(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", pattern)
}

// accept waits for all processes.
func (j *servedJob) accept(listener net.Listener) error {
	deadline := time.Now().Add(startTimeout)
	if err := listener.(*net.UnixListener).SetDeadline(deadline); err != nil {
		return err
	}
	for range j.members {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		m := &member{conn: conn, lines: bufio.NewReader(conn)}
		rank, err := m.greeting(deadline, len(j.members))
		if err == nil && j.members[rank] != nil {
			err = fmt.Errorf("two processes say that they are rank %d", rank)
		}
		if err != nil {
			conn.Close()
			return err
		}
		j.members[rank] = m
	}
	return nil
}

// greeting reads which rank the process is.
func (m *member) greeting(deadline time.Time, ranks int) (rank int, err error) {
	if err := m.conn.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	line, err := m.lines.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(line, "rank %d\n", &rank); err != nil || rank < 0 || rank >= ranks {
		return 0, fmt.Errorf("greeting %.40q", line)
	}
	return rank, m.conn.SetReadDeadline(time.Time{})
}

// Run implements [Job]. It returns when all processes are idle again.
func (j *servedJob) Run(ctx context.Context, o Order) (Outcome, error) {
	stop := context.AfterFunc(ctx, j.cancel)
	defer stop()
	for _, m := range j.members {
		if _, err := fmt.Fprintln(m.conn, o); err != nil {
			return Outcome{}, j.broken(ctx, o, err)
		}
	}
	answers := make([]spent, len(j.members))
	for rank, m := range j.members {
		line, err := m.lines.ReadString('\n')
		if err != nil {
			return Outcome{}, j.broken(ctx, o, err)
		}
		if answers[rank], err = parseSpent(line); err != nil {
			return Outcome{}, fmt.Errorf("%s: %s: rank %d answers %.80q: %w", j.name, o.describe(), rank, line, err)
		}
	}
	return o.outcome(answers), nil
}

// outcome is what all processes took: the time is rank 0's, or that from when the first sender of
// several began until the last one had ended. In a collective call all send.
func (o Order) outcome(answers []spent) Outcome {
	first := answers[0]
	all := Outcome{Took: first.exchange}
	for rank, s := range answers {
		all.Processor += s.processor
		if o.Workload == Coll || rank < len(answers)/2 {
			first.began, first.ended = min(first.began, s.began), max(first.ended, s.ended)
		}
	}
	if len(answers) > 2 || o.Workload == Coll {
		all.Took = first.ended - first.began
	}
	return all
}

// lastWords is how long a process that went away, and those that run with it, may take to say why.
const lastWords = 3 * time.Second

// broken explains a process that went away in the middle of an order.
func (j *servedJob) broken(ctx context.Context, o Order, err error) error {
	words := time.NewTimer(lastWords)
	defer words.Stop()
	select {
	case <-j.ended:
	case <-ctx.Done():
	case <-words.C:
	}
	j.cancel()
	<-j.ended
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return j.explain(fmt.Errorf("%s: %w", o.describe(), err))
}

// explain adds to an error why the processes have ended and what they said.
func (j *servedJob) explain(err error) error {
	err = fmt.Errorf("%s: %w", j.name, err)
	if j.failure != nil && !errors.Is(j.failure, context.Canceled) {
		err = fmt.Errorf("%w: %w", err, j.failure)
	}
	if said := j.output.String(); said != "" {
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return err
}

// farewell is how long processes that get no orders any more may take to end. MPI_Finalize of MPICH over UCX
// now and then does not: one rank waits for bytes of others, and these for the launcher's barrier.
const farewell = 3 * time.Second

// Close implements [Job]: without orders the processes end.
func (j *servedJob) Close() error {
	for _, m := range j.members {
		if m != nil {
			m.conn.Close()
		}
	}
	overdue := time.AfterFunc(farewell, j.cancel)
	<-j.ended
	overdue.Stop()
	j.cancel()
	return os.RemoveAll(j.dir)
}

// maxOutput bounds what is kept of what processes print, in bytes.
const maxOutput = 8 << 10
