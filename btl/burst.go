package btl

import "time"

// A Burst is what the endpoints of a module send with neither a poll nor a pause in between. The first
// frame of an endpoint in a burst goes out at once. Further ones may be held back for [Loop.Flush], so
// that they go together. After a pause a new burst begins: a program that computes between two sends,
// and never waits, would have its frames held back until a tick. The zero Burst is ready for use, under
// the loop's lock.
type Burst struct {
	number uint64 // of the burst
	epoch  uint64 // of the loop
	frames int    // followers since a frame went at once
	unread int    // those since the clock was read
	at     int64  // when it was read
}

const (
	// burstPause is the time without a frame after which a new burst begins. It is longer than what a
	// program takes that only prepares its next message, and about what a system call takes that
	// carries one.
	burstPause = int64(5 * time.Microsecond)
	// burstFrame is what a frame takes that is held back, at most as a rule.
	burstFrame = int64(time.Microsecond)
	// The clock is read at each of the first burstStart followers, at the burstLater'th, and at every
	// burstStride'th. To read it takes a tenth of what a short frame does, and a pause is likelier after
	// few frames.
	burstStart  = 3
	burstLater  = 8
	burstStride = 32
)

// Number is the number of the burst to which a frame belongs that is about to be sent. An endpoint
// compares it with that of its last frame that went at once.
func (b *Burst) Number(l Loop) uint64 {
	if epoch := l.Epoch(); epoch != b.epoch {
		b.epoch = epoch
		b.begin()
		return b.number
	}
	b.frames++
	b.unread++
	if b.frames <= burstStart || b.frames == burstLater || b.frames%burstStride == 0 {
		b.look(l.Now())
	}
	return b.number
}

// Sent notes that a frame has just gone at once. What the system call has taken is no pause.
func (b *Burst) Sent(l Loop) { b.at, b.frames, b.unread = l.Now(), 0, 0 }

func (b *Burst) begin() {
	b.number++
	b.frames, b.unread = 0, 0
}

// look begins a new burst if there was a pause since the clock was last read.
func (b *Burst) look(now int64) {
	if now-b.at > burstPause+int64(b.unread)*burstFrame {
		b.begin()
	}
	b.at, b.unread = now, 0
}
