package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/launch"
)

// A Command says what to start as a rank.
type Command struct {
	Path string
	Args []string // with the program's name

	// Environ is the rank's environment. Start adds what a rank finds its launcher and its place by.
	Environ []string

	Rank, Size            int
	LocalRank, LocalRanks int // among those of this host

	// Stdin is the rank's standard input, nil for /dev/null.
	Stdin *os.File

	// Processor is the processor that the rank is bound to; -1: any.
	Processor int

	// Trace is the size of a ring for what the rank does with its messages, in bytes; 0: it gets none.
	Trace int64
}

// A Process is a rank that was started.
type Process struct {
	PMI, Control net.Conn   // the launcher's ends; their taker closes them
	Output       [2]*Output // standard output and standard error, likewise
	Untied       error      // why what the rank has started may outlive its starter, or nil
	Trace        *os.File   // the ring of package trace, if it was asked for; its taker closes it

	cmd   *exec.Cmd
	group Group
	life  *lifeline

	refused sync.Once
	beyond  chan struct{} // closed when the system has refused to kill it
	ended   chan error    // gets the end of the process
}

// ErrBeyond: a rank can not be ended, and is left behind.
var ErrBeyond = errors.New("it can not be ended, since it has become another user's, as by sudo (kill: operation not permitted); it is left behind")

// leavingTime is how long one may take all the same that the system has refused to kill. It may just be ending: some systems
// refuse then too.
const leavingTime = 200 * time.Millisecond

// firstExtra is the descriptor that the first of a process's ExtraFiles becomes.
const firstExtra = 3

// Start starts a rank. Call it on a thread that lives as long as the job: the kernel ends a child
// with the thread that started it, and Go may end a thread that is nobody's.
func Start(c Command) (*Process, error) {
	p := &Process{beyond: make(chan struct{}), ended: make(chan error, 1), cmd: &exec.Cmd{
		Path: c.Path, Args: c.Args, SysProcAttr: procAttr(),
		Env: append(slices.Clip(c.Environ),
			"PMI_FD=3", control.Variable+"=4", // the ExtraFiles
			"PMI_RANK="+strconv.Itoa(c.Rank), "PMI_SIZE="+strconv.Itoa(c.Size),
			"MPI_LOCALRANKID="+strconv.Itoa(c.LocalRank), "MPI_LOCALNRANKS="+strconv.Itoa(c.LocalRanks),
			launch.ProcessorsEnv+"="+strconv.Itoa(runtime.NumCPU())), // before the rank is bound to one
	}}
	theirs, err := p.connect()
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	if err != nil {
		return nil, errors.Join(err, p.discard())
	}
	p.cmd.ExtraFiles = slices.Clone(theirs[:2])
	if end := p.life.theirs(); end != nil {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, end)
	}
	if c.Trace > 0 {
		if p.Trace, err = trace.Create(c.Trace); err != nil {
			return nil, errors.Join(fmt.Errorf("memory for its trace: %w", err), p.discard())
		}
		p.cmd.Env = append(p.cmd.Env, trace.Variable+"="+strconv.Itoa(firstExtra+len(p.cmd.ExtraFiles)))
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, p.Trace)
	}
	if c.Stdin != nil {
		p.cmd.Stdin = c.Stdin // a nil *os.File would make a Reader that is not nil
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs[2], theirs[3]
	if err := bound(c.Processor, func() error { return slackened(func() error { return sliced(p.begin) }) }); err != nil {
		return nil, errors.Join(err, p.discard())
	}
	p.group.PID = p.PID()
	killFirst(p.PID())
	p.Untied = p.life.tie(p.PID())
	return p, nil
}

// begin starts the process. Where the system refuses to end it with its starter, as a sandbox may, the lifeline has to do.
func (p *Process) begin() error {
	again := *p.cmd // a Cmd is started once
	err := p.cmd.Start()
	if !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOSYS) {
		return err
	}
	again.SysProcAttr = groupAttr()
	if again.Start() != nil {
		return err
	}
	p.cmd = &again
	return nil
}

// connect makes what joins the rank to its launcher. It returns the rank's ends, in order:
// of PMI, Control and the two outputs.
func (p *Process) connect() (theirs []*os.File, err error) {
	for _, ours := range []*net.Conn{&p.PMI, &p.Control} {
		near, far, err := socketpair()
		if err != nil {
			return theirs, err
		}
		*ours = near
		theirs = append(theirs, far)
	}
	if p.life, err = newLifeline(); err != nil {
		return theirs, err
	}
	for i := range p.Output {
		read, write, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.Output[i] = &Output{file: read, budget: lastWordsBytes}
		theirs = append(theirs, write)
	}
	return theirs, nil
}

// discard closes the launcher's ends for a rank that was not started.
func (p *Process) discard() error {
	var errs []error
	for _, conn := range []net.Conn{p.PMI, p.Control} {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	if p.Trace != nil {
		errs = append(errs, p.Trace.Close())
	}
	p.life.cut()
	for _, o := range p.Output {
		if o != nil {
			errs = append(errs, o.Close())
		}
	}
	return errors.Join(errs...)
}

// PID is the number of the rank's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends s to the rank's process group, unless that is gone. If the system refuses SIGKILL, Wait returns.
func (p *Process) Signal(s syscall.Signal) {
	if err := p.group.Signal(s); s == syscall.SIGKILL && errors.Is(err, syscall.EPERM) {
		p.refused.Do(func() { close(p.beyond) })
	}
}

// Wait returns how the rank ended. By then it has killed what the rank left in its process
// group. It is an error if that is not known, as where another part of this program waits for all children. It is [ErrBeyond] if the
// rank runs on and nothing can be done about it.
func (p *Process) Wait() (syscall.WaitStatus, error) {
	go func() { p.ended <- p.group.Reap(p.cmd.Wait) }()
	known, err := p.awaitEnd()
	if !known {
		return 0, ErrBeyond
	}
	p.life.cut()
	if p.cmd.ProcessState == nil {
		return 0, err
	}
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus) // the error says what the status says
	return status, nil
}

// awaitEnd waits for the end of the process, and not for long once the system has refused to kill it.
func (p *Process) awaitEnd() (known bool, err error) {
	select {
	case err = <-p.ended:
		return true, err
	case <-p.beyond:
	}
	late := time.NewTimer(leavingTime)
	defer late.Stop()
	select {
	case err = <-p.ended:
		return true, err
	case <-late.C:
		return false, nil
	}
}

// Recorded is what the rank has recorded, if a ring was asked for. Call it once, when the rank has ended.
func (p *Process) Recorded() ([]byte, error) {
	b, err := trace.Contents(p.Trace)
	return b, errors.Join(err, p.Trace.Close())
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
