package peers

import (
	"fmt"
	"path"
	"strings"
)

// A Reason says why cells fall short, and where the profile is that shows it. People write it.
type Reason struct {
	Cells string // a path with * for any part: tcp/stream/*/openmpi
	Text  string
}

// Reasons are those of a file.
type Reasons []Reason

// ParseReasons reads a file of reasons. Each begins with its cells and a colon; lines that begin
// with space go on with it. Lines that begin with # are for those who write the file.
func ParseReasons(text string) (Reasons, error) {
	var all Reasons
	number := 0
	for line := range strings.Lines(text) {
		number++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(line, "#"):
		case line[0] == ' ' || line[0] == '\t':
			if len(all) == 0 {
				return nil, fmt.Errorf("line %d: %.60q goes on with nothing: a reason begins with its cells and a colon", number, trimmed)
			}
			all[len(all)-1].Text += " " + trimmed
		default:
			cells, said, found := strings.Cut(trimmed, ":")
			if _, err := path.Match(cells, ""); err != nil || !found || strings.Count(cells, "/") < 3 {
				return nil, fmt.Errorf("line %d: %.60q: want cells and a reason, such as tcp/stream/8K/openmpi: why; * stands for any part", number, trimmed)
			}
			all = append(all, Reason{cells, strings.TrimSpace(said)})
		}
	}
	return all, nil
}

// For returns what is said about a cell, by the path of its comparison: the first that fits.
func (rs Reasons) For(cell string) string {
	for _, r := range rs {
		if r.fits(cell) {
			return r.Text
		}
	}
	return ""
}

func (r Reason) fits(cell string) bool {
	fits, err := path.Match(r.Cells, cell)
	return err == nil && fits
}

// Stale are the reasons for cells none of which falls short any more. Those of tables that were not
// measured are not among them.
func (rs Reasons) Stale(all []Comparison) Reasons {
	var stale Reasons
	for _, r := range rs {
		measured, needed := false, false
		for _, c := range all {
			if r.fits(c.Path) {
				measured = true
				needed = needed || c.Verdict.failed() || c.Verdict == Undecided
			}
		}
		if measured && !needed {
			stale = append(stale, r)
		}
	}
	return stale
}
