package remote

import (
	"context"
	"errors"
	"time"
)

// errStopped: the remote shell waits for somebody to have it go on.
var errStopped = errors.New("it is stopped, as a command in the background is that asks something at the terminal, for a password or whether a host is known. " +
	"It must get there without a question: by a key, an agent, a host that is in known_hosts; ssh -o BatchMode=yes says what it would have asked")

// stoppedTime is how long a shell that asks is looked at once more. Somebody may have stopped it who has it go on at once.
const stoppedTime = 500 * time.Millisecond

// missAsking ends the wait for a shell that is stopped, when it has been so for a while. It returns when the wait is over.
func (l *Line) missAsking(ctx context.Context, end context.CancelCauseFunc) {
	looks := time.NewTicker(stoppedTime)
	defer looks.Stop()
	for before := false; ; {
		select {
		case <-looks.C:
			now := isStopped(l.cmd.Process.Pid)
			if before && now {
				end(errStopped)
				return
			}
			before = now
		case <-ctx.Done():
			return
		}
	}
}
