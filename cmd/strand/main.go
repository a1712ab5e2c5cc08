// Command strand starts parallel programs and tells what their transports do.
package main

import (
	"os"

	"github.com/strandmp/strand/internal/netspace"
)

func main() {
	netspace.Start()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
