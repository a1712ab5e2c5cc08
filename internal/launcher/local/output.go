package local

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// After the last rank has exited, only a process that has left its group can still hold an
// output pipe. These bound for how long, and for how many bytes, it is heard.
const (
	LastWordsTime  = time.Second
	lastWordsBytes = 1 << 20

	// lastLook is for a read that comes after that, as where whoever reads the output is slow: what the ranks
	// have written may still be in the pipe.
	lastLook = 200 * time.Millisecond
)

// An Output is the launcher's end of an output pipe of a rank's. One goroutine reads.
type Output struct {
	file *os.File

	mu     sync.Mutex // held while the read deadline is set, and for ended
	ended  bool       // the ranks have exited
	until  time.Time  // and so long others are heard
	budget int        // bytes that may still come after that; only the reader uses it
}

// ErrQuiet: nothing came while the reader had patience.
var ErrQuiet = errors.New("nothing comes")

// Read waits for patience at most, and without limit if that is 0. At the end of the output its
// error is [io.EOF], and ErrQuiet if nothing came meanwhile.
func (o *Output) Read(p []byte, patience time.Duration) (int, error) {
	ended := o.bound(patience)
	if ended {
		if o.budget <= 0 {
			return 0, io.EOF
		}
		p = p[:min(len(p), o.budget)]
	}
	n, err := o.file.Read(p)
	if ended {
		o.budget -= n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = io.EOF; !ended {
			err = ErrQuiet // or the ranks have exited meanwhile, and the next read finds out
		}
	}
	return n, err
}

// bound limits the wait of the next read, and reports whether no rank is left to write.
func (o *Output) bound(patience time.Duration) (ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var until time.Time
	switch {
	case o.ended:
		if until = o.until; time.Until(until) < lastLook {
			until = time.Now().Add(lastLook)
		}
	case patience > 0:
		until = time.Now().Add(patience)
	}
	_ = o.file.SetReadDeadline(until) // fails only at its end
	return o.ended
}

// End notes that no rank is left to write.
func (o *Output) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.until = true, time.Now().Add(LastWordsTime)
	_ = o.file.SetReadDeadline(o.until)
}

// Close closes the pipe.
func (o *Output) Close() error { return o.file.Close() }
