package strandcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

// pageFile is the name of a comparison's page, beside its results.
const pageFile = "report.html"

// besideFrom are the flags that have an effect with --from.
var besideFrom = []string{"from", "baseline", "out", "overwrite", "json", "markdown", "metric"}

// checkFrom refuses flags that have no effect with --from: all but those beside it.
func checkFrom(flags *pflag.FlagSet, beside ...string) error {
	var vain []string
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(beside, f.Name) {
			vain = append(vain, "--"+f.Name)
		}
	})
	if len(vain) > 0 {
		return usageError{fmt.Errorf("--from draws what was measured: %s would change nothing; leave out --from to measure", strings.Join(vain, ", "))}
	}
	return nil
}

// loadResults reads results from a file, or from the file of that name in a folder. It returns
// the path of the file too.
func loadResults(flag, path string) (*results.Report, string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, resultsFile)
	}
	r, err := results.Load(path)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", flag, err)
	}
	return r, path, nil
}

// before returns the results of --baseline, nil without that flag.
func (f *compareFlags) before() (*results.Report, error) {
	if f.baseline == "" {
		return nil, nil
	}
	r, _, err := loadResults("--baseline", f.baseline)
	return r, err
}

// redraw shows the results of an earlier comparison (--from).
func (f *compareFlags) redraw(cmd *cobra.Command, baseline *results.Report) error {
	if err := checkFrom(cmd.Flags(), besideFrom...); err != nil {
		return err
	}
	r, file, err := loadResults("--from", f.from)
	if err != nil {
		return err
	}
	if err := results.CheckMetrics(f.metrics); err != nil {
		return usageError{fmt.Errorf("--metric: %w", err)}
	}
	if len(f.metrics) > 0 {
		r.By = f.metrics
	}
	report.Sum(r)
	dir := cmp.Or(f.out, filepath.Dir(file))
	if _, err := f.fileIn(dir, file); err != nil {
		return err
	}
	return newCompareShow(cmd, f, baseline).end(r, file, dir, nil)
}

// writePage writes the page into a folder and returns its path.
func writePage(dir string, r, baseline *results.Report) (string, error) {
	var b bytes.Buffer
	if err := report.WritePage(&b, r, baseline); err != nil {
		return "", err
	}
	path := filepath.Join(dir, pageFile)
	return path, results.WriteFile(path, b.Bytes())
}
