package strandcmd_test

import (
	"github.com/strandmp/strand/strandcmd"
	// _ "example.org/yours" // the transports of one's own, for their registration alone
)

// The whole program: a main function of one line, and an import for each transport.
func ExampleMain() {
	strandcmd.Main()
}
