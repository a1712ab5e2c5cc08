package self_test

import (
	"testing"

	"github.com/strandmp/strand/btl/self"
	"github.com/strandmp/strand/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func() conformance.Subject {
		return conformance.Subject{Component: self.Component{}}
	})
}
