package npb

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/strandmp/strand"
)

// A Kernel is a benchmark of the suite.
type Kernel struct {
	Name  string // as NPB has it: "CG"
	Title string // in words

	// Permits says why so many ranks can not compute the class; nil if they can.
	Permits func(class Class, ranks int) error

	// Run computes, on every rank of the communicator. The result is nil on all ranks but 0. Wrong
	// values are no error: the result says so.
	Run func(ctx context.Context, c *strand.Comm, class Class) (*Result, error)
}

// A Result is a run as rank 0 tells it.
type Result struct {
	Kernel     string  `json:"kernel"`
	Class      Class   `json:"class"`
	Size       string  `json:"size"`
	Iterations int     `json:"iterations"`
	Ranks      int     `json:"ranks"`
	Seconds    float64 `json:"seconds"` // of what NPB times, on the slowest rank
	Mops       float64 `json:"mops"`    // million operations a second, of all ranks, as NPB counts them
	Operation  string  `json:"operation"`
	Checks     []Check `json:"checks"`
}

// A Check is a value and what was published for it.
type Check struct {
	Name      string  `json:"name"`
	Got       float64 `json:"got"`
	Want      float64 `json:"want"`
	Tolerance float64 `json:"tolerance"` // of the relative difference
}

// number is a Check in JSON, which has no number for NaN and infinities: there the value is null.
type number struct {
	*plain
	Got *float64 `json:"got"`
}

// plain is a Check without methods.
type plain Check

// MarshalJSON implements [json.Marshaler].
func (c Check) MarshalJSON() ([]byte, error) {
	n := number{plain: (*plain)(&c)}
	if !math.IsNaN(c.Got) && !math.IsInf(c.Got, 0) {
		n.Got = &c.Got
	}
	return json.Marshal(n)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Check) UnmarshalJSON(text []byte) error {
	n := number{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	if c.Got = math.NaN(); n.Got != nil {
		c.Got = *n.Got
	}
	return nil
}

// Holds reports whether the value is the published one. What is no number is not.
func (c Check) Holds() bool { return math.Abs((c.Got-c.Want)/c.Want) <= c.Tolerance }

// Exactly is a check of a count.
func Exactly(name string, got, want int) Check {
	return Check{Name: name, Got: float64(got), Want: float64(want)}
}

// Verified reports whether there were checks, and all hold.
func (r *Result) Verified() bool {
	for _, c := range r.Checks {
		if !c.Holds() {
			return false
		}
	}
	return len(r.Checks) > 0
}

// Start returns the time when all ranks are there.
func Start(ctx context.Context, c *strand.Comm) (time.Time, error) {
	err := c.Barrier(ctx)
	return time.Now(), err
}

// Seconds returns, on all ranks, how long it took since start on the slowest.
func Seconds(ctx context.Context, c *strand.Comm, start time.Time) (float64, error) {
	seconds := []float64{time.Since(start).Seconds()}
	err := strand.Allreduce(ctx, c, strand.Max[float64](), seconds, seconds)
	return seconds[0], err
}

// PowerOfTwo is a Permits of kernels that halve their problem again and again.
func PowerOfTwo(ranks int) error {
	if ranks&(ranks-1) != 0 {
		return fmt.Errorf("%d ranks: want a power of two", ranks)
	}
	return nil
}
