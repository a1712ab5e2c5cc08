package conformance

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// A poller is a progress loop made for tests. It can be stepped, and calls handlers
// in random order. Now and then it calls one that has nothing to do: every handler
// must bear that.
type poller struct {
	started  time.Time
	epoch    uint64
	watches  []*pollWatch
	timers   []*pollTimer
	deferred []btl.Deferred
	moves    []btl.Mover
	rng      *rand.Rand
	invalid  func(fd int) // a watched descriptor was closed

	mu    sync.Mutex // guards what follows, which any goroutine may touch
	posts []func()
	woken bool
	pipe  [2]int // ends a wait
	armed []unix.PollFd
	ready bool // there is something to do: do not wait
}

type pollWatch struct {
	p       *poller
	fd      int
	handler btl.Handler
	write   bool
	stopped bool
}

type pollTimer struct {
	due  int64
	f    func()
	dead bool
}

func newPoller(seed uint64, invalid func(fd int)) (*poller, error) {
	p := &poller{started: time.Now(), rng: rand.New(rand.NewPCG(seed, 3)), invalid: invalid}
	if err := unix.Pipe(p.pipe[:]); err != nil {
		return nil, err
	}
	for _, fd := range p.pipe {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	unix.Close(p.pipe[0])
	unix.Close(p.pipe[1])
	p.woken = true // nobody writes to the pipe any more
}

func (p *poller) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	w := &pollWatch{p: p, fd: fd, handler: h}
	p.watches = append(p.watches, w)
	return w, nil
}

func (w *pollWatch) Write(on bool) { w.write = on }

func (w *pollWatch) Stop() {
	w.stopped = true
	if i := slices.Index(w.p.watches, w); i >= 0 {
		w.p.watches = slices.Delete(w.p.watches, i, i+1)
	}
}

func (p *poller) Now() int64    { return int64(time.Since(p.started)) }
func (p *poller) Epoch() uint64 { return p.epoch }

func (p *poller) After(d time.Duration, f func()) btl.Timer {
	t := &pollTimer{due: p.Now() + int64(d), f: f}
	p.timers = append(p.timers, t)
	return t
}

func (t *pollTimer) Stop() { t.dead = true }

func (p *poller) Flush(d btl.Deferred) { p.deferred = append(p.deferred, d) }

func (p *poller) Move(m btl.Mover) { p.moves = append(p.moves, m) }

func (p *poller) Post(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = append(p.posts, f)
	if !p.woken {
		p.woken = true
		// The pipe is empty: it takes a byte.
		_, _ = unix.Write(p.pipe[1], []byte{1})
	}
}

// poll does one round of work. It reports whether there was any but for timers, and whether any of these was due.
func (p *poller) poll() (did, due bool) {
	p.epoch++
	deferred := p.deferred
	p.deferred = nil
	for _, d := range deferred {
		d.Flush()
	}
	did = p.runPosts()
	did = p.pollDescriptors() || did
	return did || len(deferred) > 0, p.fire()
}

func (p *poller) runPosts() bool {
	p.mu.Lock()
	posts := p.posts
	p.posts = nil
	if p.woken {
		var b [1]byte
		_, _ = unix.Read(p.pipe[0], b[:])
		p.woken = false
	}
	p.mu.Unlock()
	for _, f := range posts {
		f()
	}
	return len(posts) > 0
}

func (p *poller) pollDescriptors() bool {
	if len(p.watches) == 0 {
		return false
	}
	watches := slices.Clone(p.watches) // a handler may stop one
	fds := p.interest(nil)
	if _, err := unix.Poll(fds, 0); err != nil {
		return false
	}
	did := false
	for _, i := range p.rng.Perm(len(watches)) {
		w, events := watches[i], fds[i].Revents
		switch {
		case w.stopped:
		case events&unix.POLLNVAL != 0:
			p.invalid(w.fd)
			w.Stop()
		case events != 0:
			did = w.handler.Poll(events&(unix.POLLOUT|unix.POLLERR|unix.POLLHUP) != 0) || did
		case p.rng.IntN(64) == 0:
			did = w.handler.Poll(false) || did
		}
	}
	return did
}

func (p *poller) interest(fds []unix.PollFd) []unix.PollFd {
	for _, w := range p.watches {
		fd := unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN}
		if w.write {
			fd.Events |= unix.POLLOUT
		}
		fds = append(fds, fd)
	}
	return fds
}

// fire calls the timers that are due.
func (p *poller) fire() bool {
	if len(p.timers) == 0 {
		return false
	}
	now, did := p.Now(), false
	timers := p.timers
	p.timers = nil
	for _, t := range timers {
		switch {
		case t.dead:
		case t.due <= now:
			t.dead, did = true, true
			t.f()
		default:
			p.timers = append(p.timers, t)
		}
	}
	return did
}

// arm prepares the next wait, under the rank's lock.
func (p *poller) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = len(p.deferred) > 0 || len(p.posts) > 0
	p.armed = p.interest(append(p.armed[:0], unix.PollFd{Fd: int32(p.pipe[0]), Events: unix.POLLIN}))
}

// wait returns when there is something to do or the time is over. It is called
// without the rank's lock. A descriptor that is closed meanwhile ends the wait, and
// does no other harm.
func (p *poller) wait(d time.Duration) {
	p.mu.Lock()
	fds, ready := append([]unix.PollFd(nil), p.armed...), p.ready
	p.mu.Unlock()
	if !ready {
		_, _ = unix.Poll(fds, int(d.Milliseconds()))
	}
}
