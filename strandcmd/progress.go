package strandcmd

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressDelay is how long a command may take before it shows how far it is.
const progressDelay = 2 * time.Second

// A progress shows on a terminal how much of a long command is done. To anything
// but a terminal it writes nothing.
type progress struct {
	out     io.Writer // nil: no terminal
	started time.Time
	bar     *progressbar.ProgressBar
}

func newProgress(out io.Writer) *progress {
	p := &progress{started: time.Now()}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.out = out
	}
	return p
}

// update shows that so many of all steps are done.
func (p *progress) update(done, total int) {
	if p.out == nil || time.Since(p.started) < progressDelay {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true))
	}
	// A terminal that went away is no reason to stop measuring.
	_ = p.bar.Set(done)
}

// finish takes the bar away.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
