package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/launcher/control"
	"github.com/strandmp/strand/internal/launcher/pmi"
)

// closeTimeout bounds how long Close waits for the launcher's goodbye.
const closeTimeout = 10 * time.Second

// messageLead is the head start of a message on standard error before an abort. Hydra ends its
// job at once and drops what it has not read. Without the head start one message in four was
// lost, with it none in hundreds.
const messageLead = 50 * time.Millisecond

// member is a rank of a job whose launcher speaks PMI-1.
type member struct {
	client     *pmi.Client
	rank, size int
	hostname   string
	launcher   string
	local      int // ranks of this host; 0: not known
	processors int // that these have; 0: not known

	control   *control.Member // nil if the launcher has no such channel
	listening sync.WaitGroup
	leaving   atomic.Bool // this process ends the channel, not the launcher
}

func (m *member) Rank() int        { return m.rank }
func (m *member) Size() int        { return m.size }
func (m *member) Name() string     { return m.client.Job() }
func (m *member) Hostname() string { return m.hostname }
func (m *member) Launcher() string { return m.launcher }

// LocalRanks implements [Local].
func (m *member) LocalRanks() int { return m.local }

// LocalProcessors implements [Local].
func (m *member) LocalProcessors() int { return m.processors }

func (m *member) Put(ctx context.Context, key, value string) error {
	given.Context(ctx)
	defer m.silence()()
	return m.explain(put(ctx, m.client, key, value))
}

func (m *member) Get(ctx context.Context, key string) (string, error) {
	given.Context(ctx)
	defer m.silence()()
	value, err := get(ctx, m.client, key)
	if errors.Is(err, ErrNoKey) && m.client.Place() == (pmi.Place{}) {
		err = fmt.Errorf("%w (if each rank puts one: does another process have the PMI_RANK of the one whose it is, by a script?)", err)
	}
	return value, m.explain(err)
}

// silence is for calls that the launcher answers at once. Barrier is none: it waits for the other ranks.
func (m *member) silence() (over func()) {
	return silence(fmt.Sprintf("rank %d of %d on %s", m.rank, m.size, m.hostname), "its launcher ("+m.launcher+"): is it stopped?")
}

func (m *member) Barrier(ctx context.Context) error {
	given.Context(ctx)
	return m.explain(m.client.Barrier(ctx))
}

func (m *member) Abort(code int, message string) {
	m.abort(code, message, m.client.Abort)
}

// yieldTime is how long a launcher other than "strand run" has to end the job by itself when a
// rank has failed. Hydra takes milliseconds, srun -K some more; srun alone does not end it.
const yieldTime = time.Second

// AbortAfter implements [Follower]. Launchers other than "strand run" see the failed rank end
// too, and know its status. An abort would replace it by this rank's, so they get yieldTime
// first. What they print, if anything, names no rank. So one rank tells which it was.
func (m *member) AbortAfter(failed, code int, message string) {
	if m.launcher == strandRun {
		m.abort(code, message, func(code int, message string) error {
			return m.client.AbortAfter(failed, code, message)
		})
		return
	}
	if m.rank == spokesman(failed) {
		fmt.Fprintf(os.Stderr, "strand: rank %d has gone, and rank %d on %s ends the job for it: %s\n", failed, m.rank, m.hostname, message)
	}
	time.Sleep(yieldTime)        //nolint:forbidigo // the launcher ends this process, or does not
	_ = m.client.Abort(code, "") // if it fails the launcher is gone, and this process ends anyway
}

// spokesman is the rank that tells which rank has failed: the first of the others.
func spokesman(failed int) int {
	if failed == 0 {
		return 1
	}
	return 0
}

func (m *member) abort(code int, message string, send func(int, string) error) {
	if m.launcher != strandRun {
		complain(m, code, message)
		time.Sleep(messageLead) //nolint:forbidigo // Hydra gives no sign of having read the message
		_ = send(code, "")      // it was said, and Slurm takes no long lines
		return
	}
	if err := send(code, message); err != nil {
		complain(m, code, message)
	}
}

// endTime is how long "strand run" may take to end a rank that has aborted its job. It takes
// milliseconds, unless the rank ignores SIGTERM or the machine is slow.
const endTime = 10 * time.Second

// AwaitEnd implements [Ender].
func (m *member) AwaitEnd(ctx context.Context) {
	given.Context(ctx)
	if m.launcher != strandRun {
		return
	}
	ended := time.NewTimer(endTime)
	defer ended.Stop()
	select {
	case <-ended.C:
	case <-ctx.Done():
	}
}

func (m *member) Close() error {
	ctx, cancel := within(closeTimeout, time.Since,
		fmt.Errorf("no answer within %v: is the launcher stopped, or another goroutine in Barrier?", closeTimeout))
	defer cancel()
	m.stopListening()
	err := m.client.Close(ctx)
	return m.explain(err)
}

// explain adds to an error the rank, its host and its launcher.
func (m *member) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pmi.ErrClosed):
		return ErrClosed
	}
	return fmt.Errorf("rank %d of %d on %s, started by %s: %w", m.rank, m.size, m.hostname, m.launcher, err)
}
