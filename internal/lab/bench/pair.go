package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lines"
)

// startTimeout is how long two processes may take to start and connect.
const startTimeout = time.Minute

// A pair is something that can be measured again and again.
type pair interface {
	// run carries out an order and returns the time of all its iterations.
	run(ctx context.Context, o order) (time.Duration, error)
	// close ends the pair and says if that went wrong.
	close() error
}

// A launcher starts two processes that take orders from a socket and returns
// when both have ended. What they print goes to the output.
type launcher func(ctx context.Context, socket string, output *lines.Beginning) error

// servedPair is a pair of processes that take orders.
type servedPair struct {
	name    string
	members [2]*member
	cancel  context.CancelFunc
	ended   chan struct{} // closed when both processes have
	failure error         // why, once they have
	output  *lines.Beginning
	dir     string
}

// member is the connection to one of the processes.
type member struct {
	conn  net.Conn
	lines *bufio.Reader
}

// startPair starts two processes and waits until both are ready for orders.
func startPair(ctx context.Context, name string, launch launcher) (*servedPair, error) {
	dir, err := os.MkdirTemp("", "strand-bench-") // for this user only
	if err != nil {
		return nil, err
	}
	p := &servedPair{name: name, ended: make(chan struct{}), dir: dir, output: lines.NewBeginning(maxOutput)}
	socket := filepath.Join(dir, "orders")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), os.RemoveAll(dir))
	}
	defer listener.Close()
	ctx, p.cancel = context.WithCancel(ctx)
	go func() {
		p.failure = launch(ctx, socket, p.output)
		close(p.ended)
		listener.Close() // nobody will come any more
	}()
	if err := p.accept(listener); err != nil {
		p.cancel()
		<-p.ended
		return nil, errors.Join(p.explain(fmt.Errorf("did not start: %w", err)), p.close())
	}
	return p, nil
}

// accept waits for both processes.
func (p *servedPair) accept(listener net.Listener) error {
	deadline := time.Now().Add(startTimeout)
	if err := listener.(*net.UnixListener).SetDeadline(deadline); err != nil {
		return err
	}
	for range p.members {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		m := &member{conn: conn, lines: bufio.NewReader(conn)}
		rank, err := m.greeting(deadline)
		if err == nil && p.members[rank] != nil {
			err = fmt.Errorf("two processes say that they are rank %d", rank)
		}
		if err != nil {
			conn.Close()
			return err
		}
		p.members[rank] = m
	}
	return nil
}

// greeting reads which rank the process is.
func (m *member) greeting(deadline time.Time) (rank int, err error) {
	if err := m.conn.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	line, err := m.lines.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(line, "rank %d\n", &rank); err != nil || rank < 0 || rank > 1 {
		return 0, fmt.Errorf("greeting %.40q", line)
	}
	return rank, m.conn.SetReadDeadline(time.Time{})
}

// run implements pair. It returns when both processes are idle again; the time
// is rank 0's.
func (p *servedPair) run(ctx context.Context, o order) (time.Duration, error) {
	stop := context.AfterFunc(ctx, p.cancel)
	defer stop()
	for _, m := range p.members {
		if _, err := fmt.Fprintln(m.conn, o); err != nil {
			return 0, p.broken(ctx, o, err)
		}
	}
	var times [2]time.Duration
	for rank, m := range p.members {
		line, err := m.lines.ReadString('\n')
		if err != nil {
			return 0, p.broken(ctx, o, err)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil || ns <= 0 {
			return 0, fmt.Errorf("%s: %v: rank %d answers %.80q", p.name, o, rank, line)
		}
		times[rank] = time.Duration(ns)
	}
	return times[0], nil
}

// broken explains a process that went away in the middle of an order.
func (p *servedPair) broken(ctx context.Context, o order, err error) error {
	p.cancel()
	<-p.ended
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.explain(fmt.Errorf("%v: %w", o, err))
}

// explain adds to an error why the processes have ended and what they said.
func (p *servedPair) explain(err error) error {
	err = fmt.Errorf("%s: %w", p.name, err)
	if p.failure != nil && !errors.Is(p.failure, context.Canceled) {
		err = fmt.Errorf("%w: %w", err, p.failure)
	}
	if said := p.output.String(); said != "" {
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return err
}

// close implements pair: without orders the processes end.
func (p *servedPair) close() error {
	for _, m := range p.members {
		if m != nil {
			m.conn.Close()
		}
	}
	<-p.ended
	p.cancel()
	return os.RemoveAll(p.dir)
}

// maxOutput bounds what is kept of what processes print, in bytes.
const maxOutput = 8 << 10
