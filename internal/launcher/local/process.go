package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/launcher/control"
)

// partingTime is how long the launcher waits for the end of a connection after its rank has
// exited. A process that the rank started may hold the socket for longer.
const partingTime = 200 * time.Millisecond

// endingTime is how long a rank may take to exit after the end of its connection. One that takes
// longer has closed the connection and runs on. A rank that was killed must not be taken for
// such a one, though the kernel of a busy machine takes its time to end it.
const endingTime = time.Second

// A process is a rank that was started.
type process struct {
	rank   int
	cmd    *exec.Cmd
	conn   net.Conn      // to its PMI client
	line   *control.Line // for what PMI has no words for
	served chan struct{} // closed when the conversation is over
	reaped chan struct{} // closed when the rank has exited
	out    [2]*stream
	life   *lifeline
	untied error // why what the rank has started may outlive the launcher, or nil

	group sync.Mutex
	gone  bool // another group may have the number by now
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal sends s to the rank's process group, unless that is gone.
func (p *process) signal(s syscall.Signal) {
	p.group.Lock()
	defer p.group.Unlock()
	if !p.gone {
		_ = syscall.Kill(-p.pid(), s)
	}
}

// endGroup kills what the rank has left in its group. It is the last signal to the group.
func (p *process) endGroup() {
	p.signal(syscall.SIGKILL)
	p.group.Lock()
	defer p.group.Unlock()
	p.gone = true
}

// spec says how to start the ranks of a job.
type spec struct {
	path    string
	args    []string // with the program's name
	prefix  func(rank int) []string
	environ []string
	ranks   int
	tag     bool
	sinks   [2]*sink
}

// command returns what to start for a rank, the rank's number on its host, and how many ranks
// run there.
func (s *spec) command(rank int) (path string, args []string, localRank, localRanks int) {
	if s.prefix == nil {
		return s.path, s.args, rank, s.ranks
	}
	args = append(slices.Clip(s.prefix(rank)), s.path)
	return args[0], append(args, s.args[1:]...), 0, 1
}

// start starts a rank. input is nil for /dev/null. Call it on a thread that lives as long as the
// job (startAll).
func (s *spec) start(rank int, input *os.File) (*process, error) {
	path, args, localRank, localRanks := s.command(rank)
	p := &process{rank: rank, served: make(chan struct{}), reaped: make(chan struct{}), cmd: &exec.Cmd{
		Path: path, Args: args, SysProcAttr: procAttr(),
		Env: append(slices.Clip(s.environ),
			"PMI_FD=3", control.Variable+"=4", // the ExtraFiles
			"PMI_RANK="+strconv.Itoa(rank), "PMI_SIZE="+strconv.Itoa(s.ranks),
			"MPI_LOCALRANKID="+strconv.Itoa(localRank), "MPI_LOCALNRANKS="+strconv.Itoa(localRanks)),
	}}
	var theirs []*os.File // closed here once the rank has them
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	for _, take := range []func(net.Conn){
		func(c net.Conn) { p.conn = c },
		func(c net.Conn) { p.line = control.NewLine(c) },
	} {
		near, far, err := socketpair()
		if err != nil {
			return nil, errors.Join(err, p.discard())
		}
		take(near)
		theirs = append(theirs, far)
	}
	life, err := newLifeline()
	if err != nil {
		return nil, errors.Join(err, p.discard())
	}
	p.life = life
	p.cmd.ExtraFiles = slices.Clone(theirs)
	if end := life.theirs(); end != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, end)
	}
	if input != nil {
		p.cmd.Stdin = input // a nil *os.File would make a Reader that is not nil
	}
	for i := range p.out {
		read, write, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(err, p.discard())
		}
		theirs = append(theirs, write)
		p.out[i] = s.stream(rank, i, read)
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs[2], theirs[3]
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, p.discard())
	}
	p.untied = life.tie(p.pid())
	return p, nil
}

func (s *spec) stream(rank, i int, read *os.File) *stream {
	prefix := ""
	if s.tag {
		prefix = fmt.Sprintf("[%d] ", rank)
	}
	return &stream{sink: s.sinks[i], prefix: prefix, pipe: &tap{name: strconv.Itoa(rank), file: read, budget: lastWordsBytes}}
}

// discard closes the launcher's ends for a rank that was not started.
func (p *process) discard() error {
	var err error
	if p.conn != nil {
		err = p.conn.Close()
	}
	if p.line != nil {
		p.line.Close()
	}
	p.life.cut()
	for _, s := range p.out {
		if s != nil {
			err = errors.Join(err, s.pipe.file.Close())
		}
	}
	return err
}

// wait returns how the rank ended. By then it has killed what the rank left in its process
// group, and the rank's last words to the launcher were heard, if they came within partingTime.
func (p *process) wait() syscall.WaitStatus {
	if awaitEnd(p.pid()) {
		p.endGroup() // its number is kept until cmd.Wait
	}
	_ = p.cmd.Wait() // an error says what the status says
	p.endGroup()
	p.life.cut()
	close(p.reaped)
	parting := time.NewTimer(partingTime)
	defer parting.Stop()
	select {
	case <-p.served:
	case <-parting.C:
	}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status
}

// exitsWithin reports whether the rank exits within d. It waits in parts, so that a time for
// which the machine stood still does not count in full.
func (p *process) exitsWithin(d time.Duration) bool {
	const parts = 4
	tick := time.NewTicker(d / parts)
	defer tick.Stop()
	for range parts {
		select {
		case <-p.reaped:
			return true
		case <-tick.C:
		}
	}
	return false
}

// socketpair returns the launcher's and the rank's end of a stream.
func socketpair() (net.Conn, *os.File, error) {
	// Without the lock another goroutine's fork could inherit the pair before
	// it is marked.
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	near, far := os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "rank")
	conn, err := net.FileConn(near) // a copy
	_ = near.Close()
	if err != nil {
		return nil, nil, errors.Join(err, far.Close())
	}
	return conn, far, nil
}
