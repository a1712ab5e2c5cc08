package remote

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// An outbox has commands on their way to a host. Who puts one in does not wait: a host that takes
// nothing must not hold up the others.
type outbox struct {
	wake chan struct{}

	mu      sync.Mutex
	waiting []letter
}

// A letter is a command and what to close when it was sent.
type letter struct {
	command
	sent chan struct{}
}

func newOutbox() outbox { return outbox{wake: make(chan struct{}, 1)} }

// put has a command sent. The channel is closed when it was.
func (o *outbox) put(c command) (sent <-chan struct{}) {
	l := letter{c, make(chan struct{})}
	o.mu.Lock()
	o.waiting = append(o.waiting, l)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return l.sent
}

func (o *outbox) take() []letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.waiting
	o.waiting = nil
	return all
}

// send sends what is put in, and a sign of life at each beat, until the line is gone.
func (o *outbox) send(to io.Writer, beat time.Duration, gone <-chan struct{}, sign func() command) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	for {
		select {
		case <-o.wake:
			for _, l := range o.take() {
				write(to, l.command)
				close(l.sent)
			}
		case <-beats.C:
			write(to, sign())
		case <-gone:
			return
		}
	}
}

// write writes a line of JSON. One that can not be written is lost with the line.
func write(to io.Writer, message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic("remote: " + err.Error())
	}
	_, _ = to.Write(append(text, '\n'))
}
