package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/strandmp/strand/internal/launcher/local"
)

// A Call is how strand on another host is called.
type Call struct {
	Timeout time.Duration // that of [Host]
	Carried string        // the folder that strand was brought in, or ""
}

// Flags are those of a command line, as package pflag has them.
type Flags interface {
	DurationVar(p *time.Duration, name string, value time.Duration, usage string)
	StringVar(p *string, name string, value string, usage string)
}

// AddFlags has the command line of strand there fill in c: [Arguments], and what [Host] adds.
func (c *Call) AddFlags(flags Flags) {
	flags.DurationVar(&c.Timeout, timeoutFlag, DefaultTimeout, "the `time` after which the launcher misses a sign of life")
	flags.StringVar(&c.Carried, carriedFlag, "", "the `folder` that this program was brought in")
}

// Serve is the other end of [Connect]. It introduces this program, takes an order, and runs ranks
// of the launcher's job until the launcher ends the connection or falls silent, or a signal comes. By then they have
// ended, and what was brought here is gone. The process then has to end too: it may still read.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser, i Introduction, call Call) error {
	if call.Carried != "" {
		defer func() { _ = os.RemoveAll(call.Carried) }()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	defer stop()
	// Who writes hears of a broken pipe: of a shell that has ended, or a rank that reads no more. Ignored
	// the signal would stay ignored in the ranks.
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE)
	defer signal.Stop(unheard)
	if err := json.NewEncoder(out).Encode(i); err != nil {
		return err
	}
	heard, _ := takeIn(in)
	defer func() { _ = heard.Close() }()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	beat := beatOf(call.Timeout)
	go func() {
		if err := heard.await(ctx.Done(), beat, farBeats); err != nil {
			end(fmt.Errorf("the launcher gives %w", err))
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = heard.Close() })()
	r := bufio.NewReaderSize(heard, 64<<10)
	o, err := takeOrder(r)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if o == nil || err != nil {
		return err
	}
	session, err := streams(pipes{r, closers{heard, out}}, false)
	if err != nil {
		return err
	}
	h := &host{
		order: *o, carried: call.Carried, beat: beat, heard: heard, session: session,
		ranks: make(map[int]*member, len(o.Ranks)), ended: make(chan struct{}), over: make(chan struct{}),
	}
	return h.run(ctx)
}

// takeOrder reads an order, and the signs of life before it. It returns nil if none comes: strand here was only asked who it is.
func takeOrder(r *bufio.Reader) (*Order, error) {
	var text []byte
	for len(text) == 0 {
		line, err := r.ReadBytes('\n')
		text = bytes.TrimSuffix(line, []byte("\n"))
		if err != nil && len(text) == 0 {
			return nil, unlessEnd(err)
		}
		if err != nil {
			return nil, noOrder(text, err)
		}
	}
	o := &Order{}
	err := json.Unmarshal(text, o)
	if err == nil && (len(o.Ranks) == 0 || len(text) > longestLine) {
		err = errors.New("it names no ranks")
	}
	if err != nil {
		return nil, noOrder(text, err)
	}
	return o, nil
}

func noOrder(text []byte, err error) error {
	return fmt.Errorf("%.80q is no order of strand run's, which alone calls this: %w", text, err)
}

// unlessEnd returns nil for errors that are the end of a connection, as it should be.
func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// A host runs the ranks of an order.
type host struct {
	order   Order
	carried string // the folder that strand was brought in, or ""
	beat    time.Duration
	heard   *intake
	session *yamux.Session
	line    conn
	write   sync.Mutex // for line
	ranks   map[int]*member
	stdin   *conn
	program *conn
	brought string // the file of a program that was brought here, or ""

	living  atomic.Int32
	working sync.WaitGroup
	ended   chan struct{} // closed when none lives
	over    chan struct{} // closed when the launcher is gone, or its order done
}

// A member is a rank and its streams.
type member struct {
	number  int
	streams map[byte]conn
	process *local.Process
}

func (h *host) run(ctx context.Context) error {
	defer h.remove()
	stop := context.AfterFunc(ctx, h.leave)
	defer stop()
	err := h.accept()
	if err == nil {
		go h.live() // a program may take its time to come
		err = h.startAll()
	}
	if err == nil {
		err = each(h.line, h.obey)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	go h.leave()
	h.dismiss()
	for _, m := range h.ranks {
		if m.process != nil {
			m.process.Signal(syscall.SIGKILL)
		}
		for _, c := range m.streams { // a launcher that reads nothing gives no window
			_ = c.SetDeadline(time.Now())
		}
	}
	close(h.over)
	h.working.Wait()
	return unlessEnd(err)
}

// dismiss asks the ranks that live to end, and gives them time for it, as the launcher does that is lost: a batch system, for one, ends its
// job by ending all processes, that of the remote shell too. Where the launcher has ended its job none lives.
func (h *host) dismiss() {
	if h.living.Load() == 0 {
		return
	}
	for _, m := range h.ranks {
		if m.process != nil {
			m.process.Signal(syscall.SIGTERM)
			m.process.Signal(syscall.SIGCONT) // a stopped process would not see SIGTERM
		}
	}
	grace := time.NewTimer(h.order.Grace)
	defer grace.Stop()
	select {
	case <-h.ended:
	case <-grace.C:
	}
}

// leave ends the connection. It may wait for a shell that takes no output.
func (h *host) leave() { _ = h.session.Close() }

// live sends signs of life until the connection ends. It is apart from all else: a launcher that reads nothing stops it.
func (h *host) live() {
	beats := time.NewTicker(h.beat)
	defer beats.Stop()
	for {
		select {
		case <-beats.C:
			h.tell(report{})
		case <-h.over:
			return
		}
	}
}

// accept takes the streams that the launcher opens.
func (h *host) accept() error {
	for _, number := range h.order.Ranks {
		h.ranks[number] = &member{number: number, streams: make(map[byte]conn, parts)}
	}
	count := 1 + 4*len(h.order.Ranks)
	if h.order.Trace > 0 {
		count += len(h.order.Ranks)
	}
	if h.order.Stdin {
		count++
	}
	if h.order.Pushed > 0 {
		count++
	}
	for range count {
		c, part, rank, err := accept(h.session)
		if err != nil {
			return err
		}
		m := h.ranks[rank]
		switch {
		case part == ofHost:
			h.line = c
		case part >= parts || m == nil:
			return fmt.Errorf("a stream of kind %d for rank %d", part, rank)
		case part == ofStdin:
			h.stdin = &c
		case part == ofProgram:
			h.program = &c
		default:
			m.streams[part] = c
		}
	}
	return nil
}

// startAll starts the ranks on a thread that lives as long as they, and tells the launcher.
func (h *host) startAll() error {
	failed := make(chan error)
	h.working.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		failed <- h.startEach()
		<-h.over
	})
	err := <-failed
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error(), Status: 1}
	if coded, ok := errors.AsType[interface {
		error
		ExitStatus() int
	}](err); ok {
		f.Status = coded.ExitStatus()
	}
	h.tell(report{Failed: f})
	_, _ = io.Copy(io.Discard, h.line) // until the launcher has read it
	return nil
}

func (h *host) startEach() error {
	path, err := h.find()
	if err != nil {
		return err
	}
	var input *os.File
	if h.stdin != nil {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		defer read.Close()
		input = read
		go func() { // until the input, or its reader, ends
			_, _ = io.Copy(write, h.stdin)
			_ = write.Close()
			_ = h.stdin.Close()
		}()
	}
	started := report{}
	h.living.Store(int32(len(h.order.Ranks)))
	environ := append(local.Environ(), h.order.Environ...)
	for i, number := range h.order.Ranks {
		p, err := local.Start(local.Command{
			Path: path, Args: append([]string{h.order.Program}, h.order.Args...), Environ: environ,
			Rank: number, Size: h.order.Size, LocalRank: i, LocalRanks: len(h.order.Ranks),
			Stdin: input, Processor: local.Turn(h.order.Bind, i), Trace: h.order.Trace,
		})
		if err != nil {
			return h.unstarted(i, err)
		}
		input = nil
		h.ranks[number].process = p
		started.Started = append(started.Started, p.PID())
		if p.Untied != nil {
			started.Untied = p.Untied.Error()
		}
	}
	h.tell(started)
	for _, m := range h.ranks {
		h.attend(m)
	}
	return nil
}

// unstarted says why the i-th rank of this host could not be started.
func (h *host) unstarted(i int, err error) error {
	err, lacking := local.Lacking(err, local.Files(len(h.order.Ranks), h.order.Trace > 0))
	if i == 0 && !lacking {
		return local.Refusal(h.order.Program, h.fromWhere(err))
	}
	return fmt.Errorf("can not start rank %d of %d: %w", h.order.Ranks[i], h.order.Size, err)
}

// fromWhere adds to an error of starting a program that was brought here where it is.
func (h *host) fromWhere(err error) error {
	if h.brought == "" || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%w: if %s is mounted noexec, TMPDIR here names another folder", err, filepath.Dir(h.brought))
}

// find goes to the working directory, in which the ranks then start, and returns the path of the program.
func (h *host) find() (path string, err error) {
	if h.order.Dir != "" {
		if err := os.Chdir(h.order.Dir); err != nil {
			return "", fmt.Errorf("the working directory: %w; --wdir names another one", err)
		}
	}
	if h.program == nil {
		return local.Find(h.order.Program)
	}
	// In strand's folder the shell removes it if strand is killed.
	f, err := os.CreateTemp(h.carried, "strand-program-")
	if err != nil {
		return "", fmt.Errorf("the program can not be brought here: %w; TMPDIR here names another folder", err)
	}
	h.brought = f.Name()
	n, err := io.Copy(f, h.program)
	if err == nil && n != h.order.Pushed {
		err = fmt.Errorf("%d of %d bytes of the program have come", n, h.order.Pushed)
	}
	if err == nil {
		err = f.Chmod(0o700)
	}
	return h.brought, errors.Join(err, f.Close())
}

// remove removes the program, if it was brought here. Until the ranks have ended they may need it: an
// interpreter opens its script when it has been started, and reads on as it runs.
func (h *host) remove() {
	if h.brought != "" {
		_ = os.Remove(h.brought)
	}
}

// attend starts the goroutines that serve a rank.
func (h *host) attend(m *member) {
	p := m.process
	said := make(chan struct{})
	for part, own := range map[byte]net.Conn{ofPMI: p.PMI, ofControl: p.Control} {
		there := m.streams[part]
		go func() { // until the launcher, or the rank's end, ends it
			_, _ = io.Copy(own, there)
			_ = own.Close()
		}()
		h.working.Go(func() {
			_, _ = io.Copy(there, own)
			_ = there.Close()
			if part == ofPMI {
				close(said)
			}
		})
	}
	for i, part := range []byte{ofStdout, ofStderr} {
		h.working.Go(func() { pass(m.streams[part], p.Output[i]) })
	}
	h.working.Go(func() {
		status, err := p.Wait()
		if err != nil {
			status = unknownEnd
		}
		parting := time.NewTimer(partingTime)
		defer parting.Stop()
		select {
		case <-said: // a rank's last words come before its end
		case <-parting.C:
		}
		h.tell(report{Exited: &exit{m.number, uint32(status)}})
		m.sendTrace() // behind its end, which is not to wait for so much
		if h.living.Add(-1) == 0 {
			close(h.ended)
			h.endOutputs()
		}
	})
}

// unknownEnd counts as a failure: an exit with 255, as a remote shell's.
const unknownEnd syscall.WaitStatus = 255 << 8

// sendTrace sends what the rank has recorded.
func (m *member) sendTrace() {
	to, asked := m.streams[ofTrace]
	if !asked {
		return
	}
	if b, err := m.process.Recorded(); err == nil {
		_, _ = to.Write(b) // who is not there any more misses it
	}
	_ = to.Close()
}

// partingTime is how long the end of a rank waits for the end of its connection, which a process
// that it has started may hold.
const partingTime = 200 * time.Millisecond

// endOutputs bounds what is heard of processes that have left their rank's group.
func (h *host) endOutputs() {
	for _, m := range h.ranks {
		for _, o := range m.process.Output {
			o.End()
		}
		_ = m.process.PMI.SetReadDeadline(time.Now().Add(local.LastWordsTime))
		_ = m.process.Control.SetReadDeadline(time.Now().Add(local.LastWordsTime))
	}
}

// pass passes an output on.
func pass(to conn, from *local.Output) {
	defer func() { _ = errors.Join(from.Close(), to.Close()) }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf, 0)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// obey carries out a command.
func (h *host) obey(c command) error {
	h.heard.sleep(c.Asleep)
	if m := h.ranks[c.Rank]; c.Signal != 0 && m != nil && m.process != nil {
		m.process.Signal(syscall.Signal(c.Signal))
	}
	return nil
}

// tell sends a report.
func (h *host) tell(r report) {
	h.write.Lock()
	defer h.write.Unlock()
	write(h.line, r)
}
