package engine

import "time"

// maxEvents is how many events one look at the descriptors takes.
const maxEvents = 64

// An event is a descriptor that is ready.
type event struct {
	token    uint64
	writable bool
}

// A poller waits for descriptors and clocks. It is what differs between
// systems, and what a simulation replaces.
type poller interface {
	// now is the monotonic time in nanoseconds.
	now() int64
	// wait returns up to len(buf) events. With timeout 0 it returns at once and
	// is called under the engine's lock; with a negative one it waits for an
	// event or a kick. Several may wait at the same time.
	wait(buf []event, timeout int64) int
	// kick makes one wait that is under way, or the next one that would block,
	// return. Waits with timeout 0 do not use it up. Any goroutine may call it.
	kick()
	// calmDown takes back the kicks that no wait has used up. It is called under the engine's
	// lock while nobody is in wait.
	calmDown()
	// doze is the background goroutine's wait. It ends by [poller.rouse], by [poller.alarm], and,
	// while attend is on, when a descriptor is ready. It takes no event of a descriptor. It reports
	// whether a descriptor alone has ended it.
	doze() bool
	// alarm ends the doze that is under way, or the next one, in so many nanoseconds. Only the
	// last call counts. It wakes nobody before. It is called under the engine's lock, or by the
	// background goroutine.
	alarm(after int64)
	// attend says whether descriptors end a doze. It is called under the engine's lock, or to say
	// no by the background goroutine. It costs a system call. It wakes nobody unless a descriptor is ready.
	// It reports false if the system has no room for what ends the doze.
	attend(on bool) bool
	// rouse ends the doze that is under way, or the next one. Any goroutine may call it.
	rouse()
	add(fd int, token uint64) error
	write(fd int, token uint64, on bool) error
	remove(fd int)
	close()
}

// newAlarm is a timer of Go's that is not set yet, for pollers without one of their own.
func newAlarm(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
}
