package rails

import (
	"errors"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
)

// A Rail is one way to a peer. Its exported fields describe it and do not change, but for State
// and Cause. The caller reads State and changes nothing.
type Rail struct {
	State State
	Cause error // of the last break, or of the last attempt that failed
	// Owner is the caller's own.
	Owner any
	// Tier says which rails come first: one carries nothing while one of a higher tier
	// is connected.
	Tier int
	// Foreign rails only the peer can connect.
	Foreign bool
	// Aside rails carry some frames beside the others, if they are connected. They do not count as a
	// way to the peer, and are none of [Peer.Rails]. They are opened by [Peer.OpenAside].
	Aside bool
	// Unbreakable rails can not break while both ends live.
	Unbreakable bool
	// Spare says whether the path stands by for others of its transport.
	Spare btl.Spare

	met     bool          // it was connected
	since   int64         // when it came to be connected, asked to connect, or broken
	futile  int           // connections, or attempts, in a row by which nothing got through
	moved   uint32        // what had got through when it was connected
	pause   time.Duration // before the next attempt, while others carry on; a trial that is passed ends it
	longest int64         // how long an attempt took that failed, at most
	failing row           // attempts in a row that failed,
	refused row           // and those of them that were refused because nobody listens
	trial   trial
	pace    pace
	trip    trip
}

// ConnectedAt is when the rail was last connected.
func (r *Rail) ConnectedAt() int64 { return r.since }

const (
	// firstPause and lastPause bound the time between attempts to bring back a rail
	// while others carry on.
	firstPause = 250 * time.Millisecond
	lastPause  = 2 * time.Second
	// lastAsidePause is lastPause for a rail that nothing depends on.
	lastAsidePause = 30 * time.Second
	// quickReconnects is how many connections in a row may break, or fail to be made,
	// while nothing gets through, before the next one has to wait: 10 ms, then twice as
	// long each time, at most a second.
	quickReconnects = 4
)

// A row is a number of attempts, one after the other, with the same outcome. What they say
// holds from the first to the last.
type row struct {
	runs        bool
	since, last int64
}

func (w *row) add(since, last int64) {
	if !w.runs {
		*w = row{runs: true, since: since}
	}
	w.last = last
}

// note takes down how an attempt failed, which began at one time and ended at another. A
// timeout says that nobody answered all that time. Any other failure says something of its end
// only.
func (r *Rail) note(err error, began, now int64) {
	r.longest = max(r.longest, now-began)
	if !errors.Is(err, syscall.ETIMEDOUT) {
		began = now
	}
	r.failing.add(began, now)
	if errors.Is(err, syscall.ECONNREFUSED) {
		r.refused.add(now, now)
	} else {
		r.refused = row{}
	}
}

// rest is how long to wait before connecting again where no other rail is connected.
func (r *Rail) rest() time.Duration {
	if r.futile < quickReconnects {
		return 0
	}
	return min(10*time.Millisecond<<min(r.futile-quickReconnects, 10), time.Second)
}

// Final reports whether another attempt would only repeat a failure.
func Final(err error) bool {
	conn, ok := errors.AsType[*btl.ConnError](err)
	return ok && conn.Final
}

// avoids reports whether the rail may work where one of a higher tier is silent.
func (r *Rail) avoids() bool { return r.Spare != btl.Parallel }
