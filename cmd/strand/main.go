// Command strand starts parallel programs and tells what their transports do.
package main

import "github.com/strandmp/strand/strandcmd"

func main() { strandcmd.Main() }
