package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/workload"
)

// An order is what the runner tells a rank to do.
type order struct {
	Transport string        `json:"transport"` // that is compared
	Workload  workload.Spec `json:"workload"`
}

// An answer is what rank 0 tells on its standard output.
type answer struct {
	Outcome *workload.Outcome `json:"outcome"`
	Facts   map[string]string `json:"facts"` // about the transport, by the names of package results
}

// Member is what a rank of a run does. The argument is an order from the runner; what
// rank 0 tells goes to out.
func Member(ctx context.Context, argument string, out io.Writer) error {
	var o order
	if err := json.Unmarshal([]byte(argument), &o); err != nil {
		return fmt.Errorf("%q is no order of strand compare, which alone calls this: %w", argument, err)
	}
	return strand.Run(ctx, func(ctx context.Context, w *strand.World) error {
		outcome, err := o.Workload.Run(ctx, w.Comm())
		if err != nil || outcome == nil {
			return err
		}
		return json.NewEncoder(out).Encode(answer{outcome, factsOf(w, outcome, o.Transport)})
	})
}
