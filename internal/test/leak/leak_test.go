package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a test that notes its errors and whose end is called by hand.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

func TestNothingLeft(t *testing.T) {
	r := &recorder{TB: t}
	Check(r)
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { <-stop; f.Close(); close(stopped) }()
	close(stop)
	r.end()
	<-stopped
	assert.Empty(t, r.errors)
}

func TestOpenDescriptorIsFound(t *testing.T) {
	before := descriptors(t)
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	left := leftOpen(t, before, time.Now())
	assert.Equal(t, []string{fmt.Sprintf("%d (%s)", f.Fd(), os.DevNull)}, left)
}

func TestDescriptorClosedLateIsForgiven(t *testing.T) {
	before := descriptors(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	timer := time.AfterFunc(5*between, func() { r.Close(); w.Close() })
	defer timer.Stop()
	assert.Empty(t, leftOpen(t, before, time.Now().Add(patience)))
}

func TestGoroutineIsFound(t *testing.T) {
	r := &recorder{TB: t}
	check(r, 0)
	stop := make(chan struct{})
	go func() { <-stop }()
	r.end()
	close(stop)
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "TestGoroutineIsFound")
}
