package conformance

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
)

// Run runs the suite as subtests of t, one for each case. One that is not applicable is
// skipped, with the reason.
func Run(t *testing.T, factory Factory, opts ...Option) {
	t.Helper()
	o := resolve(opts)
	t.Logf("conformance seed %d; CONFORMANCE_SEED=%d runs the same again", o.seed, o.seed)
	for _, c := range selected(o) {
		t.Run(c.name, func(t *testing.T) {
			result := runCase(t.Context(), factory, c, o)
			switch result.Status {
			case Failed:
				for _, v := range result.Violations {
					t.Errorf("%v\n%s", v, v.Stacks)
				}
				t.Logf("the case: %s", c.about)
				t.Logf("CONFORMANCE_SEED=%d runs the same again", o.seed)
			case NotApplicable:
				t.Skipf("not applicable: %s", result.Reason) //nolint:forbidigo // nothing is missing here that the case needs: the transport has nothing to test
			}
		})
	}
}

// RunRegistered holds every transport of a registry to the suite. A transport
// that is registered and has no factory in the table fails, as does a factory
// for a transport that is not registered, or one that makes another component:
// a new transport can not be forgotten.
func RunRegistered(t *testing.T, registry *btl.Registry, factories map[string]Factory, opts ...Option) {
	t.Helper()
	for _, err := range missing(registry, factories) {
		t.Error(err)
	}
	for _, component := range registry.Components() {
		factory := factories[component.Name()]
		if factory == nil {
			continue // told above
		}
		t.Run(component.Name(), func(t *testing.T) { Run(t, factory, opts...) })
	}
}

func resolve(opts []Option) options {
	o := options{timeout: 20 * time.Second}
	if seed, err := strconv.ParseUint(os.Getenv("CONFORMANCE_SEED"), 10, 64); err == nil {
		o.seed = seed
	} else {
		o.seed = uint64(time.Now().UnixNano())
	}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
