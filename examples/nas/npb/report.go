package npb

import (
	"fmt"
	"io"
)

// Report writes a result as NPB's programs do, so that what reads theirs reads ours.
func (r *Result) Report(w io.Writer) {
	verdict := "UNSUCCESSFUL"
	if r.Verified() {
		verdict = "SUCCESSFUL"
	}
	fmt.Fprintf(w, "\n %s Benchmark Completed.\n", r.Kernel)
	for _, line := range []struct{ name, value string }{
		{"Class", r.Class.String()},
		{"Size", r.Size},
		{"Iterations", fmt.Sprint(r.Iterations)},
		{"Time in seconds", fmt.Sprintf("%.3f", r.Seconds)},
		{"Total processes", fmt.Sprint(r.Ranks)},
		{"Mop/s total", fmt.Sprintf("%.2f", r.Mops)},
		{"Mop/s/process", fmt.Sprintf("%.2f", r.Mops/float64(r.Ranks))},
		{"Operation type", r.Operation},
		{"Verification", verdict},
	} {
		fmt.Fprintf(w, " %-15s = %24s\n", line.name, line.value)
	}
	for _, c := range r.Checks {
		if !c.Holds() {
			fmt.Fprintf(w, " %s is %.13g: want %.13g, to a relative difference of %g\n", c.Name, c.Got, c.Want, c.Tolerance)
		}
	}
}
