//go:build linux

package wire

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// wait returns when there may be something to do. With many frames on their way
// it lets some more come together.
func (e *Engine) wait(many bool) (stop bool, err error) {
	polls := e.polls
	next, timed := e.net.Next()
	now := time.Since(e.epoch)
	pause := next - now
	switch {
	case timed && (pause <= 0 || e.alarm.near(now)):
		return false, nil
	case many:
		e.alarm.off()
		polls = polls[len(polls)-1:]
		pause, timed = grain, true
	case timed:
		pause = max(e.alarm.set(now, next), grain)
	}
	var timeout *unix.Timespec
	if timed {
		t := unix.NsecToTimespec(int64(pause))
		timeout = &t
	}
	n, err := unix.Ppoll(polls, timeout, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return true, fmt.Errorf("ppoll: %w", err)
	}
	if n == 0 {
		e.alarm.rang(time.Since(e.epoch))
	}
	return polls[len(polls)-1].Revents != 0, nil
}

// An alarm ends a long sleep in time. A processor may need some hundred microseconds to return
// from one where it is virtual. So the alarm rings earlier by how late it was before, and the
// rest of the time is spent looking at the clock.
type alarm struct {
	due   time.Duration // what it was set for
	rings time.Duration // when it is to ring; 0: not set
	late  time.Duration // by how much it rang too late, on the average
}

const (
	longSleep = time.Millisecond
	maxSpin   = 400 * time.Microsecond
)

// set returns for how long to sleep.
func (a *alarm) set(now, due time.Duration) time.Duration {
	a.due, a.rings = due, 0
	if due-now >= longSleep {
		a.rings = due - a.late
		return a.rings - now
	}
	return due - now
}

// off forgets what the alarm was set for.
func (a *alarm) off() { a.rings = 0 }

// near tells whether it is so close to what the alarm was set for that sleeping
// does not pay.
func (a *alarm) near(now time.Duration) bool {
	return a.rings > 0 && a.due > now && a.due-now <= maxSpin && now >= a.rings
}

// rang learns from when the alarm rang.
func (a *alarm) rang(now time.Duration) {
	if a.rings > 0 {
		a.late = min(max(0, a.late+(now-a.rings-a.late)/4), maxSpin)
	}
}
