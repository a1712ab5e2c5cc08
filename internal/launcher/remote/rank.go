package remote

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/strandmp/strand/internal/launcher/local"
)

// A Rank runs on another host.
type Rank struct {
	line    *Line
	number  int
	pid     int
	pmi     conn
	control conn
	outputs [2]Output
	traced  chan []byte // gets what the rank has recorded; nil: nothing is

	once   sync.Once
	status syscall.WaitStatus
	ended  chan struct{}
}

func (r *Rank) exit(status syscall.WaitStatus) {
	r.once.Do(func() {
		r.status = status
		close(r.ended)
	})
}

// PID is the number of the rank's process there.
func (r *Rank) PID() int { return r.pid }

// Signal sends s to the rank's process group.
func (r *Rank) Signal(s syscall.Signal) { r.line.tell(command{Signal: int(s), Rank: r.number}) }

// Wait returns how the rank ended. Its error is why that is not known: the line has ended.
func (r *Rank) Wait() (syscall.WaitStatus, error) {
	select {
	case <-r.ended:
		return r.status, nil
	case <-r.line.gone:
	}
	select {
	case <-r.ended:
		return r.status, nil
	default:
		return 0, r.line.why
	}
}

// PMI is the rank's connection to its launcher.
func (r *Rank) PMI() net.Conn { return r.pmi }

// Control is the rank's channel of package control.
func (r *Rank) Control() net.Conn { return r.control }

// Recorded is what the rank has recorded, if a ring was asked for. Call it once. It waits for the end of the rank, or of the line.
func (r *Rank) Recorded() ([]byte, error) { return <-r.traced, nil }

// Output is the rank's standard output, and its standard error.
func (r *Rank) Output() [2]Output { return r.outputs }

// An Output is what a rank writes.
type Output struct{ conn }

// Read reads as [local.Output] does.
func (o Output) Read(p []byte, patience time.Duration) (int, error) {
	var until time.Time
	if patience > 0 {
		until = time.Now().Add(patience)
	}
	if err := o.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := o.conn.Read(p)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = local.ErrQuiet
	case err != nil:
		err = io.EOF // the end of the line is told otherwise
	}
	return n, err
}

// End does nothing: strand there ends the output with its ranks.
func (Output) End() {}
