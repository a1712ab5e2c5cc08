package launch

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/strandmp/strand/internal/given"
)

// singleton is a world of one: a process that nobody launched.
type singleton struct {
	hostname string

	mu     sync.Mutex
	values map[string]string
	closed bool
}

func newSingleton(hostname string) *singleton {
	return &singleton{hostname: hostname, values: make(map[string]string)}
}

func (s *singleton) Rank() int        { return 0 }
func (s *singleton) Size() int        { return 1 }
func (s *singleton) Hostname() string { return s.hostname }
func (s *singleton) Launcher() string { return "none" }

func (s *singleton) Name() string { return fmt.Sprintf("single_%s_%d", s.hostname, os.Getpid()) }

func (s *singleton) Put(ctx context.Context, key, value string) error {
	given.Context(ctx)
	if err := checkKey(key); err != nil {
		return err
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

func (s *singleton) Get(ctx context.Context, key string) (string, error) {
	given.Context(ctx)
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, found := s.values[key]
	if !found {
		return "", fmt.Errorf("%w: %q", ErrNoKey, key)
	}
	return value, nil
}

func (s *singleton) Barrier(ctx context.Context) error {
	given.Context(ctx)
	return s.usable(ctx)
}

func (s *singleton) Abort(code int, message string) { complain(s, code, message) }

func (s *singleton) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *singleton) usable(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// complain says on standard error why a rank aborts the job, for launchers
// that do not pass the message on.
func complain(j Job, code int, message string) {
	fmt.Fprintf(os.Stderr, "strand: rank %d on %s aborts the job with code %d: %s\n", j.Rank(), j.Hostname(), code, message)
}
