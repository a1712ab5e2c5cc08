package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// While several logins have not proved themselves sshd refuses others at random (MaxStartups, 10:30:100). It counts those of
// everybody, and for a moment those that have just come to an end. So one host of many may be refused for no fault.

// mostTries is how often a host is tried that has no place for another login. Six in ten attempts may be
// refused and 98 of 100 hosts be reached.
const mostTries = 8

// sshsOwn is the exit status of ssh when the fault is not that of the program there.
const sshsOwn = 255

// turnedAway is the error of a login that was ended before the two sides had agreed on a key.
type turnedAway struct{ error }

func (e *turnedAway) Unwrap() error { return e.error }

// turnsAway reports whether a remote shell that has ended so, and has said that, was turned away. With
// LogLevel=ERROR ssh says nothing of it; of a wrong key, say, it does.
func turnsAway(words []string, err error, said string) bool {
	exit, is := errors.AsType[*exec.ExitError](err)
	return is && exit.ExitCode() == sshsOwn && filepath.Base(words[0]) == "ssh" &&
		(said == "" || strings.Contains(said, "kex_exchange_identification"))
}

// rest waits before the next try, so that not all come at the same time. It reports whether there is to be one.
func rest(ctx context.Context) bool {
	const least, most = 200 * time.Millisecond, 800 * time.Millisecond
	pause := time.NewTimer(least + rand.N(most-least))
	defer pause.Stop()
	select {
	case <-pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}
