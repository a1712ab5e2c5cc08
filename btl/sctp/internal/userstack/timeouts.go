package userstack

import (
	"strings"
	"sync/atomic"

	"github.com/pion/logging"
)

// timeouts is what pion logs to. It counts pion's timeouts, which are told nowhere else. The rest
// is dropped: what matters shows in what becomes of the association.
type timeouts struct{ count atomic.Int64 }

// timedOut is how pion's line (v1.11.3) about a timeout begins. A test notices if that changes.
const timedOut = "[%s] T3-rtx timed out:"

var _ logging.LeveledLogger = (*timeouts)(nil)

// NewLogger implements [logging.LoggerFactory].
func (t *timeouts) NewLogger(string) logging.LeveledLogger { return t }

// Debugf implements [logging.LeveledLogger].
func (t *timeouts) Debugf(format string, _ ...any) {
	if strings.HasPrefix(format, timedOut) {
		t.count.Add(1)
	}
}

func (*timeouts) Trace(string)          {}
func (*timeouts) Tracef(string, ...any) {}
func (*timeouts) Debug(string)          {}
func (*timeouts) Info(string)           {}
func (*timeouts) Infof(string, ...any)  {}
func (*timeouts) Warn(string)           {}
func (*timeouts) Warnf(string, ...any)  {}
func (*timeouts) Error(string)          {}
func (*timeouts) Errorf(string, ...any) {}
