// Package suite lists the kernels of the NAS parallel benchmarks.
package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/cg"
	"github.com/strandmp/strand/examples/nas/ep"
	"github.com/strandmp/strand/examples/nas/ft"
	"github.com/strandmp/strand/examples/nas/is"
	"github.com/strandmp/strand/examples/nas/lu"
	"github.com/strandmp/strand/examples/nas/mg"
	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/param"
)

// Kernels are all, in the order in which a reader may want them.
func Kernels() []npb.Kernel {
	return []npb.Kernel{ep.Kernel, is.Kernel, cg.Kernel, mg.Kernel, ft.Kernel, lu.Kernel}
}

// Find returns the kernel of a name, in any case.
func Find(name string) (npb.Kernel, error) {
	var names []string
	for _, k := range Kernels() {
		if strings.EqualFold(k.Name, name) {
			return k, nil
		}
		names = append(names, strings.ToLower(k.Name))
	}
	meant := ""
	for _, known := range names {
		// Names are so short that one letter makes another one: the first has to be right.
		if strings.EqualFold(name[:min(1, len(name))], known[:1]) && param.Nearest(name, slices.Values([]string{known})) != "" {
			meant = "; did you mean " + known + "?"
		}
	}
	return npb.Kernel{}, fmt.Errorf("kernel %q: want one of %s%s", name, strings.Join(names, ", "), meant)
}

// Run runs a kernel on every rank of the communicator, if it permits as many. The result is nil on all ranks but 0.
func Run(ctx context.Context, c *strand.Comm, k npb.Kernel, class npb.Class) (*npb.Result, error) {
	if err := k.Permits(class, c.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name, err)
	}
	r, err := k.Run(ctx, c, class)
	if err != nil {
		return nil, fmt.Errorf("%s, class %v: %w", k.Name, class, err)
	}
	return r, nil
}
