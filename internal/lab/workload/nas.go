package workload

import (
	"context"
	"fmt"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/examples/nas/suite"
)

// NAS is a kernel of the NAS parallel benchmarks, verified. Its time is what NPB times: without
// making the problem, and after all connections have been made.
type NAS struct {
	Kernel string `json:"kernel"` // ep, is, cg, mg, ft, lu
	Class  string `json:"class"`  // S, W, A, B
}

// NASResult is the kernel's report.
type NASResult = npb.Result

// Check implements [Workload].
func (n NAS) Check() error {
	_, _, err := n.find()
	return err
}

func (n NAS) find() (npb.Kernel, npb.Class, error) {
	kernel, err := suite.Find(n.Kernel)
	if err != nil {
		return kernel, 0, err
	}
	class, err := npb.ParseClass(n.Class)
	return kernel, class, err
}

// Permits implements [Workload].
func (n NAS) Permits(ranks int) error {
	kernel, class, err := n.find()
	if err != nil {
		return err
	}
	return kernel.Permits(class, ranks)
}

// Run implements [Workload].
func (n NAS) Run(ctx context.Context, c *strand.Comm) (Result, error) {
	kernel, class, err := n.find()
	if err != nil {
		return nil, err
	}
	r, err := suite.Run(ctx, c, kernel, class)
	if err != nil || r == nil {
		return nil, err
	}
	for _, check := range r.Checks {
		if !check.Holds() {
			return nil, fmt.Errorf("%s of class %v is wrong: %s is %.13g instead of %.13g", r.Kernel, class, check.Name, check.Got, check.Want)
		}
	}
	return r, nil
}
