package selection

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Secret returns, for people, the setting of a component by which the user wants messages to be
// secret. It is "" if there is none.
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

// Exposed is the error that a module which sends in the clear is not to be used. Secret is what
// [Secret] has returned. The error is nil if the module may be used.
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
