// Command strand is the command line of Strand, which knows the transport unix too.
package main

import (
	"github.com/strandmp/strand/strandcmd"

	_ "github.com/strandmp/strand/examples/hello-transport/unixsock" // --btl unix
)

func main() { strandcmd.Main() }
