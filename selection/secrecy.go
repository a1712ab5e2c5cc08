package selection

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Secret is the setting by which the user wants messages to be secret, of one of the components,
// for people; "" if he does not.
func Secret(components []btl.Component, v *param.Values) string {
	for _, c := range components {
		if s, ok := c.(btl.Secretive); ok {
			if setting := s.Secret(v); setting != "" {
				return setting
			}
		}
	}
	return ""
}

// Exposed is why a module is not to be used because of what [Secret] has returned: it would send
// in the clear. It is nil if the module may be used.
func Exposed(component string, a btl.Attr, secret string) error {
	if secret == "" || a.Secrecy != btl.Clear {
		return nil
	}
	return &btl.UnavailableError{
		Component: component,
		Reason:    fmt.Sprintf("it sends in the clear, and %s says that nobody else is to read or change messages", secret),
		Remedy:    "leave it out of the parameter btl, or take that setting back on all ranks",
	}
}
