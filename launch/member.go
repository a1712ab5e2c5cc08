package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/internal/control"
	"github.com/strandmp/strand/internal/pmi"
)

// closeTimeout bounds how long Close waits for the launcher's goodbye.
const closeTimeout = 10 * time.Second

// messageLead is a head start for a message on standard error before an abort.
// Hydra ends its job at once, and drops what it had not read by then: one
// message in four without, none in hundreds with it.
const messageLead = 50 * time.Millisecond

// member is a rank of a job whose launcher speaks PMI-1.
type member struct {
	client     *pmi.Client
	rank, size int
	hostname   string
	launcher   string

	control   *control.Member // nil if the launcher has no such channel
	listening sync.WaitGroup
	leaving   atomic.Bool // this process ends the channel
}

func (m *member) Rank() int        { return m.rank }
func (m *member) Size() int        { return m.size }
func (m *member) Name() string     { return m.client.Job() }
func (m *member) Hostname() string { return m.hostname }
func (m *member) Launcher() string { return m.launcher }

func (m *member) Put(ctx context.Context, key, value string) error {
	return m.explain(put(ctx, m.client, key, value))
}

func (m *member) Get(ctx context.Context, key string) (string, error) {
	value, err := get(ctx, m.client, key)
	return value, m.explain(err)
}

func (m *member) Barrier(ctx context.Context) error {
	return m.explain(m.client.Barrier(ctx))
}

func (m *member) Abort(code int, message string) {
	m.abort(code, message, m.client.Abort)
}

// AbortAfter implements [Follower].
func (m *member) AbortAfter(failed, code int, message string) {
	m.abort(code, message, func(code int, message string) error {
		return m.client.AbortAfter(failed, code, message)
	})
}

func (m *member) abort(code int, message string, send func(int, string) error) {
	if m.launcher != strandRun {
		complain(m, code, message)
		time.Sleep(messageLead) //nolint:forbidigo // Hydra gives no sign of having read the message
	}
	if err := send(code, message); err != nil && m.launcher == strandRun {
		complain(m, code, message)
	}
}

// endTime is how long "strand run" may take to end a rank that has aborted its job. It
// takes milliseconds, unless the rank does not end by SIGTERM, or the machine is slow.
const endTime = 10 * time.Second

// AwaitEnd implements [Ender].
func (m *member) AwaitEnd(ctx context.Context) {
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
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeTimeout,
		fmt.Errorf("no answer within %v: is another goroutine in Barrier?", closeTimeout))
	defer cancel()
	m.stopListening()
	err := m.client.Close(ctx)
	return m.explain(err)
}

// explain says whose error it is.
func (m *member) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pmi.ErrClosed):
		return ErrClosed
	}
	return fmt.Errorf("rank %d of %d on %s, started by %s: %w", m.rank, m.size, m.hostname, m.launcher, err)
}
