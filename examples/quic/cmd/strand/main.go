// Command strand is the command line of Strand, which knows the transport quic too.
package main

import (
	"github.com/strandmp/strand/strandcmd"

	_ "github.com/strandmp/strand/examples/quic/strandquic" // --btl quic
)

func main() { strandcmd.Main() }
