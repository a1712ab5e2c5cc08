package workload

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm wakes a goroutine at a time of [clock]. Where nothing else runs, a timer of Go's waits in steps of a millisecond, so
// that messages of a faster pace would leave several at once, each up to a millisecond after its time. A timer of the
// kernel's is exact.
type alarm struct {
	timer  *os.File
	fd     int
	unbind func() bool // from the context
}

// newAlarm makes an alarm that also ends with the context.
func newAlarm(ctx context.Context) (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	a := &alarm{timer: os.NewFile(uintptr(fd), "alarm"), fd: fd}
	a.unbind = context.AfterFunc(ctx, func() { _ = a.timer.SetReadDeadline(time.Unix(1, 0)) }) // it fails when it is closed already
	return a, nil
}

// wait returns at a time, at once if that has passed, or when the context has ended.
func (a *alarm) wait(ctx context.Context, at int64) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	var times [8]byte
	_, err := a.timer.Read(times[:])
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (a *alarm) close() error {
	a.unbind()
	return a.timer.Close()
}
