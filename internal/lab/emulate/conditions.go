package emulate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/strandmp/strand/param"
)

// A Link says what a network of equal hosts and paths is like.
type Link struct {
	NIC
	Path
}

// A NIC is what joins a host to the switch.
type NIC struct {
	Rate  Rate  `json:"rate"`  // of each direction
	Queue Queue `json:"queue"` // of each direction
}

// A Queue bounds the frames that have come and are not yet sent. A frame that finds it full is
// dropped (tail drop), but a sender with nothing to send takes any frame. 0 is no bound; if both
// are 0 the bound is DefaultQueue frames. Without a Rate nothing waits.
type Queue struct {
	Frames int `json:"frames,omitzero"`
	Bytes  int `json:"bytes,omitzero"`
}

// DefaultQueue is the default of netem and of Linux's NICs, in frames.
const DefaultQueue = 1000

// OrDefault is the queue with its bounds.
func (q Queue) OrDefault() Queue {
	if q == (Queue{}) {
		return Queue{Frames: DefaultQueue}
	}
	return q
}

// ParseQueue reads frames, or bytes if there is a unit: 1000, 256K.
func ParseQueue(text string) (Queue, error) {
	frames, err := strconv.Atoi(text)
	if err == nil && frames > 0 {
		return Queue{Frames: frames}, nil
	}
	bytes, sizeErr := param.ParseSize(text)
	if sizeErr != nil || bytes < 1 || bytes != int64(int(bytes)) || err == nil {
		return Queue{}, fmt.Errorf("%s: want 1 or more frames, such as 1000, or bytes with a unit, such as 256K", text)
	}
	return Queue{Bytes: int(bytes)}, nil
}

// String says it in a few words.
func (q Queue) String() string {
	var bounds []string
	if q.Frames > 0 {
		bounds = append(bounds, fmt.Sprintf("%d frames", q.Frames))
	}
	if q.Bytes > 0 {
		bounds = append(bounds, fmt.Sprintf("%d bytes", q.Bytes))
	}
	return strings.Join(bounds, ", ")
}

// A Path is what happens between two hosts in one direction.
type Path struct {
	// Delay is how long a frame travels. Jitter is how much more or less it may take at random,
	// each length as likely. Jitter alone lets no frame overtake another.
	Delay  time.Duration `json:"delay"`
	Jitter time.Duration `json:"jitter,omitzero"`

	Loss Loss `json:"loss"`

	// Reorder is the share of frames that are held back by ReorderBy, or
	// DefaultReorderBy if that is 0, so that what comes behind may overtake them.
	Reorder   float64       `json:"reorder,omitzero"`
	ReorderBy time.Duration `json:"reorder_by,omitzero"`

	// Duplicate is the share of frames that arrive twice. Both take their turn in
	// the receiver's queue.
	Duplicate float64 `json:"duplicate,omitzero"`

	// Corrupt is the share of frames of which one bit is flipped, somewhere behind
	// the Ethernet header.
	Corrupt float64 `json:"corrupt,omitzero"`
}

// String says it in a few words.
func (p Path) String() string {
	words := []string{fmt.Sprintf("delay %v", p.Delay)}
	say := func(given bool, format string, values ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, values...))
		}
	}
	say(p.Jitter > 0, "jitter %v", p.Jitter)
	say(p.Loss != Loss{}, "loss %s", p.Loss)
	by := p.ReorderBy
	if by == 0 {
		by = DefaultReorderBy
	}
	say(p.Reorder > 0, "reorder %s by %v", Independent(p.Reorder), by)
	say(p.Duplicate > 0, "duplicate %s", Independent(p.Duplicate))
	say(p.Corrupt > 0, "corrupt %s", Independent(p.Corrupt))
	return strings.Join(words, ", ")
}

// DefaultReorderBy is 83 full frames at 1 Gbit/s.
const DefaultReorderBy = time.Millisecond

// MaxDelay bounds a path's times: more is a slip of the finger.
const MaxDelay = time.Minute

// ParseDelay reads one of a path's times.
func ParseDelay(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > MaxDelay {
		return 0, fmt.Errorf("want a time with its unit (us, ms, s) of 0s to %v, such as 5ms", MaxDelay)
	}
	return d, nil
}

// Check returns what is wrong with a link.
func (l Link) Check() error {
	if err := l.NIC.Check(); err != nil {
		return err
	}
	return l.Path.Check()
}

// Check returns what is wrong with a NIC.
func (n NIC) Check() error {
	switch {
	case n.Rate < 0 || n.Rate > MaxRate:
		return fmt.Errorf("rate %d bit/s: want 1bit to %s, or 0 for no limit", int64(n.Rate), MaxRate)
	case n.Queue.Frames < 0 || n.Queue.Frames > maxQueueFrames:
		return fmt.Errorf("queue of %d frames: want 1 to %d, or 0 for no bound", n.Queue.Frames, maxQueueFrames)
	case n.Queue.Bytes < 0:
		return fmt.Errorf("queue of %d bytes: want 1 or more, or 0 for no bound", n.Queue.Bytes)
	}
	return nil
}

// maxQueueFrames bounds the memory that a queue needs for its bookkeeping.
const maxQueueFrames = 1 << 20

// Check returns what is wrong with a path.
func (p Path) Check() error {
	for _, c := range []struct {
		name  string
		value time.Duration
	}{{"delay", p.Delay}, {"jitter", p.Jitter}, {"time to hold back for reordering", p.ReorderBy}} {
		if c.value < 0 || c.value > MaxDelay {
			return fmt.Errorf("%s %v: want 0 to %v", c.name, c.value, MaxDelay)
		}
	}
	if p.Jitter > p.Delay {
		return fmt.Errorf("jitter %v is more than the delay %v: frames would arrive before they are sent", p.Jitter, p.Delay)
	}
	for _, c := range []struct {
		name  string
		value float64
	}{{"reorder", p.Reorder}, {"duplicate", p.Duplicate}, {"corrupt", p.Corrupt}} {
		if err := checkShare(c.name, c.value); err != nil {
			return err
		}
	}
	return p.Loss.check()
}

func checkShare(name string, value float64) error {
	if !(value >= 0 && value <= 1) { // nor NaN
		return fmt.Errorf("%s %v: want a share of 0 to 1", name, value)
	}
	return nil
}
