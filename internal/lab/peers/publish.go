package peers

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// Files are where a page and what belongs to it are: beside docs/PERFORMANCE.md the folder
// docs/performance, with the pictures, the figures and the reasons.
type Files struct{ Page string }

// Folder is that with all but the page.
func (f Files) Folder() string {
	base := filepath.Base(f.Page)
	return filepath.Join(filepath.Dir(f.Page), strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))))
}

// Results is the file with the figures.
func (f Files) Results() string { return filepath.Join(f.Folder(), "results.json") }

// Reasons is the file that people write.
func (f Files) Reasons() string { return filepath.Join(f.Folder(), "reasons.txt") }

// Check says what would keep a page from being written, before hours are spent on it.
func (f Files) Check() error {
	if ext := filepath.Ext(f.Page); ext != ".md" {
		return fmt.Errorf("--out %s: want a file .md; figures and pictures go into a folder of that name beside it", f.Page)
	}
	_, err := f.readReasons()
	return err
}

func (f Files) readReasons() (Reasons, error) {
	text, err := os.ReadFile(f.Reasons())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := ParseReasons(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Reasons(), err)
	}
	return all, nil
}

// Publish writes figures, pictures and page, with the reasons that there are.
func (f Files) Publish(r *Report) error {
	reasons, err := f.readReasons()
	if err != nil {
		return err
	}
	page := r.Page(reasons, filepath.Base(f.Folder()))
	return errors.Join(r.Save(f.Results()), r.Draw(f.Folder()), writeWhole(f.Page, []byte(strings.TrimRight(page, "\n")+"\n")))
}

// WriteSummary writes how each table has done, and what fails, for a terminal.
func (r *Report) WriteSummary(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "table\tdecided\tfail\tfar off\tundecided\tpasses\t")
	for i := range r.Tables {
		s := r.Tables[i].score(r)
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\t\n", r.Tables[i].Path(), s.Judged, s.Failed, s.FarOff, s.Undecided, s.Word())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range r.comparisons(nil) {
		if c.Verdict.failed() {
			fmt.Fprintf(out, "%s %s: %.2f (%.2f–%.2f), aim %.2f\n", c.Verdict, c.Path, c.Ratio.Value, c.Ratio.Interval.Low, c.Ratio.Interval.High, c.Aim.Limit)
		}
	}
	for _, n := range append(r.Missing, r.Notes...) {
		fmt.Fprintln(out, n)
	}
	return nil
}
