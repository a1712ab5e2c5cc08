package job

import (
	"fmt"
	"net"
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

// A body is the process of a rank, here or on another host.
type body interface {
	PID() int
	// Signal sends s to the rank's process group, unless that is gone.
	Signal(s syscall.Signal)
	// Wait returns how the rank ended, or why that is not known.
	Wait() (syscall.WaitStatus, error)
	// Recorded is what the rank has recorded for [Config.Trace], once, when it has ended.
	Recorded() ([]byte, error)
}

// A process is a rank that was started.
type process struct {
	body
	rank   int
	conn   net.Conn      // to its PMI client
	line   *control.Line // for what PMI has no words for
	served chan struct{} // closed when the conversation is over
	reaped chan struct{} // closed when the rank has exited
	out    [2]*stream
	lack   lack // said on standard error

	recorded   []byte // for Config.Trace, when it has ended
	unrecorded error
}

// newProcess joins a rank that was started to the job.
func (j *job) newProcess(rank int, b body, pmi, line net.Conn, out, errs outlet) *process {
	p := &process{
		body: b, rank: rank, conn: pmi, line: control.NewLine(line),
		served: make(chan struct{}), reaped: make(chan struct{}),
	}
	prefix := ""
	if j.config.TagOutput {
		prefix = fmt.Sprintf("[%d] ", rank)
	}
	for i, o := range []outlet{out, errs} {
		p.out[i] = &stream{sink: j.sinks[i], prefix: prefix, rank: rank, pipe: o}
	}
	p.out[1].lack = &p.lack
	return p
}

// wait returns how the rank ended. By then the rank's last words to the launcher were heard, if
// they came within partingTime.
func (p *process) wait() (syscall.WaitStatus, error) {
	status, err := p.Wait()
	close(p.reaped)
	parting := time.NewTimer(partingTime)
	defer parting.Stop()
	select {
	case <-p.served:
	case <-parting.C:
	}
	return status, err
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
