package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/lines"
	"github.com/strandmp/strand/internal/openfiles"
)

// A Line is the launcher's connection to strand on a host.
type Line struct {
	Host Host
	Peer Introduction

	cmd     *exec.Cmd
	group   local.Group // the shell's
	in      *os.File
	from    *os.File
	heard   *intake // reads from
	read    <-chan struct{}
	out     *bufio.Reader
	said    *errorOutput
	ended   chan struct{}      // closed when the shell has ended
	how     error              // valid after that
	alone   chan struct{}      // closed when signs of life without an order are over
	waiting context.CancelFunc // has them end

	session *yamux.Session
	host    conn
	ranks   map[int]*Rank
	outbox  outbox
	beat    time.Duration
	taken   bool        // strand there has taken the order; for who serves the line
	late    atomic.Bool // no signs of life have come
	serving sync.WaitGroup
	gone    chan struct{} // closed when the line has ended
	why     error         // valid after that
}

// partTime is how long the remote shell may take to end after its input has ended, or it was told to.
const partTime = 5 * time.Second

// Connect starts strand on the host and hears its introduction. It is an error if strand there is not
// of the given build. Note, if not nil, is told what the shell and strand there write to their
// standard error once the introduction is over, with the host's name before it. A host that had no place for
// another login is tried again.
func Connect(ctx context.Context, h Host, build string, note func(line string)) (*Line, error) {
	var before error
	for try := 1; ; try++ {
		l, err := connect(ctx, h, build, note)
		if _, away := errors.AsType[*turnedAway](err); !away || try == mostTries || !rest(ctx) {
			if before != nil && err != nil && ctx.Err() != nil {
				err = fmt.Errorf("%w; before that: %w", err, before) // which says why it took so long
			}
			return l, err
		}
		before = err
	}
}

func connect(ctx context.Context, h Host, build string, note func(line string)) (*Line, error) {
	words, err := h.command()
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", h.Name, err)
	}
	l := &Line{
		Host: h, said: &errorOutput{host: h.Name, first: lines.NewBeginning(4 << 10), note: note},
		outbox: newOutbox(), beat: beatOf(h.Timeout), ended: make(chan struct{}), gone: make(chan struct{}),
		alone: make(chan struct{}),
	}
	if err := l.begin(words); openfiles.Exhausted(err) { // which is this process's fault, not that of the host
		return nil, fmt.Errorf("host %s: %.200q can not be started: %w", h.Name, strings.Join(words, " "), openfiles.Explain(err))
	} else if err != nil {
		return nil, h.explain(words, build, err, "")
	}
	if err := l.meet(ctx, build); err != nil {
		return nil, h.explain(words, build, err, l.said.firstWords())
	}
	l.said.pass()
	var waits context.Context
	waits, l.waiting = context.WithCancel(context.Background())
	go l.live(waits.Done())
	return l, nil
}

// live sends signs of life until there is an order: other hosts may take their time to be reached.
func (l *Line) live(until <-chan struct{}) {
	defer close(l.alone)
	beats := time.NewTicker(l.beat)
	defer beats.Stop()
	for {
		select {
		case <-beats.C:
			_, _ = l.in.Write([]byte{'\n'}) // it is seen elsewhere that the shell has ended
		case <-until:
			return
		}
	}
}

// begin starts the shell. It leads a group of its own: what is typed at the launcher's terminal is
// for the launcher, which passes it on.
func (l *Line) begin(words []string) error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer theirOut.Close()
	l.cmd = exec.Command(words[0], words[1:]...)
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = theirIn, theirOut, l.said
	l.cmd.WaitDelay = lastTime
	if err := l.cmd.Start(); err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	l.group.PID = l.cmd.Process.Pid
	l.in, l.from = in, out
	l.heard, l.read = takeIn(out)
	l.out = bufio.NewReaderSize(l.heard, 64<<10)
	go func() {
		l.how = l.group.Reap(l.cmd.Wait)
		l.said.end()
		close(l.ended)
		_ = out.SetReadDeadline(time.Now().Add(lastTime)) // who still holds the pipe is not the shell
	}()
	return nil
}

// lastTime is how long what the shell has left in its pipes is waited for.
const lastTime = time.Second

// meet hears the introduction. After an error the shell has ended.
func (l *Line) meet(ctx context.Context, build string) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching.Go(func() { l.missAsking(ctx, cancel) })
	late := time.AfterFunc(l.Host.Patience, func() { cancel(fmt.Errorf("nothing within %v, for which --host-timeout allows more", l.Host.Patience)) })
	defer late.Stop()
	stop := context.AfterFunc(ctx, l.dismiss)
	err := l.Host.deliver(l.in, func() { late.Reset(l.Host.Patience) })
	if heard := l.hear(build); heard != nil && !errors.Is(heard, io.EOF) || err == nil {
		err = heard
	}
	if stop() && err == nil {
		return nil
	}
	ended := l.end()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case (errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE)) && ended != nil:
		return ended
	case errors.Is(err, io.EOF):
		return errors.New("it ended without a word")
	}
	return err
}

// hear reads the introduction.
func (l *Line) hear(build string) error {
	text, err := l.out.ReadSlice('\n')
	if err != nil && (len(text) == 0 || !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull)) {
		return io.EOF
	}
	if err := json.Unmarshal(text, &l.Peer); err != nil || l.Peer.Build == "" {
		return fmt.Errorf("it said %q, which strand would not; if it is a greeting of the shell's, that has to go", text[:min(len(text), 80)])
	}
	if l.Peer.Build != build {
		return fmt.Errorf("it is another one, %.80q", l.Peer.Build)
	}
	return nil
}

func (l *Line) kill() { _ = l.group.Signal(syscall.SIGKILL) }

// dismiss ends the shell, and what it runs here if that is where it leads. They may clean up before, and on a busy
// host that takes its time.
func (l *Line) dismiss() {
	_ = l.group.Signal(syscall.SIGTERM)
	_ = l.group.Signal(syscall.SIGCONT) // a stopped process would not see SIGTERM
	hurry := time.NewTimer(partTime)
	defer hurry.Stop()
	select {
	case <-l.ended:
	case <-hurry.C:
		l.kill()
	}
}

// end ends the shell and says how it ended.
func (l *Line) end() error {
	_ = l.in.Close()
	hurry := time.AfterFunc(partTime, l.kill)
	defer hurry.Stop()
	<-l.ended
	_ = errors.Join(l.heard.Close(), l.from.Close())
	<-l.read
	return l.how
}

// Leave ends a line that no ranks were started over.
func (l *Line) Leave() error {
	l.waiting()
	err := l.end()
	<-l.alone
	return err
}

// Start has the host start ranks. Input, if not nil, goes to the first of them; the program is read
// from pushed, if it is to be brought there. After an error the line has ended. The end of ctx is
// one, which the returned error wraps.
func (l *Line) Start(ctx context.Context, o Order, input, pushed io.Reader) ([]*Rank, error) {
	stop := context.AfterFunc(ctx, l.dismiss)
	ranks, err := l.start(o, input, pushed)
	if stop() {
		return ranks, err
	}
	if err == nil {
		l.Close()
	}
	return nil, context.Cause(ctx)
}

func (l *Line) start(o Order, input, pushed io.Reader) ([]*Rank, error) {
	l.waiting()
	<-l.alone
	// From now on a host that takes nothing is missed too.
	l.heard.sleep(false)
	l.serving.Go(l.listen)
	text, err := json.Marshal(o)
	if err == nil {
		_, err = l.in.Write(append(text, '\n'))
	}
	if err == nil {
		l.session, err = streams(pipes{l.out, closers{l.heard, l.in}}, true)
	}
	if err == nil {
		err = l.open(o, input, pushed)
	}
	if err != nil {
		l.lose(err)
		l.serving.Wait()
		return nil, l.why
	}
	started := make(chan report, 1)
	l.serving.Go(func() { l.outbox.send(l.host, l.beat, l.gone, l.sign) })
	l.serving.Go(func() { l.serve(started) })
	select {
	case r := <-started:
		if r.Failed == nil && len(r.Started) == len(o.Ranks) {
			return l.inOrder(o, r.Started), nil
		}
		if err = errors.New("it has started other ranks than those of its order"); r.Failed != nil {
			err = &StartError{l.Host.Name, *r.Failed}
		}
	case <-l.gone:
		return nil, l.why
	}
	l.Close()
	return nil, err
}

// open opens the streams of the ranks.
func (l *Line) open(o Order, input, pushed io.Reader) (err error) {
	if l.host, err = begin(l.session, ofHost, 0); err != nil {
		return err
	}
	l.ranks = make(map[int]*Rank, len(o.Ranks))
	for _, number := range o.Ranks {
		r := &Rank{line: l, number: number, ended: make(chan struct{})}
		var out, errs conn
		for part, to := range map[byte]*conn{ofPMI: &r.pmi, ofControl: &r.control, ofStdout: &out, ofStderr: &errs} {
			if *to, err = begin(l.session, part, number); err != nil {
				return err
			}
		}
		r.outputs = [2]Output{{out}, {errs}}
		if o.Trace > 0 {
			c, err := begin(l.session, ofTrace, number)
			if err != nil {
				return err
			}
			r.traced = make(chan []byte, 1)
			go func() { // until the rank, or the line, has ended
				b, _ := io.ReadAll(io.LimitReader(c, o.Trace))
				_ = c.Close()
				r.traced <- b
			}()
		}
		l.ranks[number] = r
	}
	for part, from := range map[byte]io.Reader{ofStdin: input, ofProgram: pushed} {
		if from == nil {
			continue
		}
		c, err := begin(l.session, part, o.Ranks[0])
		if err != nil {
			return err
		}
		go func() { // until the stream ends, or what it reads from
			_, _ = io.Copy(c, from)
			_ = c.Close()
		}()
	}
	return nil
}

func (l *Line) inOrder(o Order, pids []int) []*Rank {
	ranks := make([]*Rank, 0, len(o.Ranks))
	for i, number := range o.Ranks {
		r := l.ranks[number]
		r.pid = pids[i]
		ranks = append(ranks, r)
	}
	return ranks
}

// listen ends the line if no signs of life come.
func (l *Line) listen() {
	if err := l.heard.await(l.gone, l.beat, nearBeats); err != nil {
		l.late.Store(true)
		l.kill()
	}
}

// sign is a sign of life.
func (l *Line) sign() command { return command{Asleep: l.heard.asleep.Load()} }

// serve hears what happens there until the line ends.
func (l *Line) serve(started chan<- report) {
	err := each(l.host, func(r report) error {
		l.taken = true
		if r.Started != nil || r.Failed != nil {
			select {
			case started <- r:
			default:
			}
		}
		if r.Exited != nil {
			if rank := l.ranks[r.Exited.Rank]; rank != nil {
				rank.exit(syscall.WaitStatus(r.Exited.Status))
			}
		}
		return nil
	})
	l.lose(err)
}

// lose says why the line has ended.
func (l *Line) lose(err error) {
	ended := l.endSession()
	switch {
	case l.late.Load():
		err = fmt.Errorf("nothing was heard from there for %v; --host-timeout allows for more", nearBeats*l.beat)
	case ended != nil:
		err = fmt.Errorf("the remote shell has ended: %w", ended)
	case err == nil || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE):
		if err = errors.New("strand there has ended"); !l.taken {
			err = errors.New("strand there has ended without an order: does the remote shell hand on its input (as ssh -n does not)?")
		}
	}
	l.why = fmt.Errorf("the connection to host %s is lost: %w", l.Host.Name, err)
	close(l.gone)
}

// tell sends a command. One that can not be sent is lost with the line.
func (l *Line) tell(c command) (sent <-chan struct{}) { return l.outbox.put(c) }

// endSession ends the session and the shell, and says how the shell ended. A shell that does not
// end by itself is killed: the session's end waits for it.
func (l *Line) endSession() error {
	hurry := time.AfterFunc(partTime, l.kill)
	defer hurry.Stop()
	if l.session != nil {
		_ = l.session.Close()
	}
	return l.end()
}

// Asleep says that this process is going to be stopped, or goes on again. It returns when that was
// sent, if the host takes it soon.
func (l *Line) Asleep(yes bool) {
	l.heard.sleep(yes)
	hurry := time.NewTimer(lastTime)
	defer hurry.Stop()
	select {
	case <-l.tell(command{Asleep: yes}):
	case <-hurry.C:
	case <-l.gone:
	}
}

// Close ends the line, started or not. Ranks that still run there are killed.
func (l *Line) Close() {
	l.waiting()
	_ = l.endSession()
	<-l.alone
	l.serving.Wait()
}
