package strandcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

// A compareShow shows the progress of a comparison, and then its results. On a terminal the
// progress is a growing table with a bar below, elsewhere, and where the cursor can not be moved, a line for each cell.
type compareShow struct {
	out, err io.Writer
	// write writes the results in another form than tables; nil: as tables.
	write    func(io.Writer, *results.Report) error
	baseline *results.Report // nil: none
	live     *report.Live    // nil: no terminal, or a dumb one
	cell     int
}

func newCompareShow(cmd *cobra.Command, f *compareFlags, baseline *results.Report) *compareShow {
	s := &compareShow{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), baseline: baseline, cell: compare.TryingOut}
	switch {
	case f.json:
		s.write = func(out io.Writer, r *results.Report) error {
			if baseline != nil {
				report.SumChanges(r, baseline)
			}
			return writeJSON(out, r)
		}
	case f.markdown:
		s.write = func(out io.Writer, r *results.Report) error { return report.WriteMarkdown(out, r, baseline) }
	}
	if file, ok := s.err.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != dumb {
		s.live = &report.Live{Out: s.err}
	}
	return s
}

// dumb is the name of a terminal that can not move its cursor, as a shell in Emacs has it.
const dumb = "dumb"

// update is called before each run, and while it lasts.
func (s *compareShow) update(state compare.State) {
	// A terminal that went away is no reason to stop measuring.
	switch {
	case state.Cell == compare.Over:
		if s.live != nil {
			_ = s.live.Clear()
		}
	case s.live != nil:
		file, _ := s.err.(*os.File)
		s.live.Width, s.live.Height, _ = term.GetSize(int(file.Fd())) // 0 if it fails: then Draw takes 80 by 24
		_ = s.live.Draw(state.Report, barOf(state)+status(state))
	case s.cell != state.Cell:
		fmt.Fprintf(s.err, "%s\n", status(state))
	}
	s.cell = state.Cell
}

// status is a line that says how far a comparison is.
func status(s compare.State) string {
	if s.Cell == compare.TryingOut {
		return fmt.Sprintf("trying out %s", s.Variant)
	}
	text := fmt.Sprintf("run %d of %d", s.Done+1, s.All)
	if s.Left >= 0 {
		text += fmt.Sprintf(", about %v left", roundTime(s.Left))
	}
	return text + ": " + report.CellText(s.Report, s.Cell)
}

// barWidth leaves most of a line for words.
const barWidth = 20

// barOf returns a progress bar, "" before the first run.
func barOf(s compare.State) string {
	if s.All == 0 {
		return ""
	}
	b := progressbar.NewOptions(s.All, progressbar.OptionSetWriter(io.Discard), progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	_ = b.Set(s.Done) // its writer is io.Discard
	return strings.TrimSpace(b.String()) + " "
}

func roundTime(d time.Duration) time.Duration {
	if d < time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Second)
}

// show writes the results themselves.
func (s *compareShow) show(r *results.Report) error {
	if s.write != nil {
		return s.write(s.out, r)
	}
	err := report.WriteTable(s.out, r)
	if err != nil || s.baseline == nil {
		return err
	}
	fmt.Fprintln(s.out)
	return report.WriteBaseline(s.out, r, s.baseline)
}

// end shows the results and writes their page into a folder. It tells that the results are in
// file, unless they could not be saved.
func (s *compareShow) end(r *results.Report, file, dir string, saved error) error {
	shown := s.show(r) // even if the page can not be written
	page, err := writePage(dir, r, s.baseline)
	if err = errors.Join(saved, shown, err); err != nil || s.write != nil {
		return err
	}
	if over, all := r.Progress(); over < all {
		fmt.Fprintf(s.out, "%d of %d runs. ", over, all)
	}
	_, err = fmt.Fprintf(s.out, "All results are in %s, with plots in %s\n", file, page)
	return err
}
