package conformance

import (
	"fmt"
	"maps"
	"slices"

	"github.com/strandmp/strand/btl"
)

// missing compares a registry with the table of factories.
func missing(registry *btl.Registry, factories map[string]Factory) []error {
	var errs []error
	for _, component := range registry.Components() {
		name := component.Name()
		factory := factories[name]
		if factory == nil {
			errs = append(errs, fmt.Errorf("transport %q is registered and does not run the conformance suite: "+
				"add a factory for it to the table of this test", name))
			continue
		}
		if made := factory().Component; made != component {
			errs = append(errs, fmt.Errorf("the factory for transport %q makes another component (%T) than the registered one (%T)",
				name, made, component))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(factories)) {
		if registry.Lookup(name) == nil {
			errs = append(errs, fmt.Errorf("there is a factory for transport %q, which is not registered (registered: %v)",
				name, registry.Names()))
		}
	}
	return errs
}
