// Package strandcmd is the command strand, to be built with transports of one's own.
//
// A transport is compiled into a program, and nothing is loaded at run time. The command
// opens transports itself, in strand info, bench, compare and conformance: so for one that
// does not come with Strand it is built anew, with this main package:
//
//	package main
//
//	import (
//		"github.com/strandmp/strand/strandcmd"
//
//		_ "example.org/yours" // --btl yours
//	)
//
//	func main() { strandcmd.Main() }
//
// It may have any name and belong to any module. All commands then know the transport:
//
//	go build -o strand .
//	./strand info --btl yours,self
//	./strand conformance --btl yours
//	./strand bench pingpong --btl yours,self
//	./strand compare --btl tcp,yours
//	./strand run -n 4 --btl yours,self ./program
//
// The program that strand run starts needs an import of its own of the transport: its ranks
// carry the messages, not the command. How a transport is written is told by
// docs/WRITING-A-BTL.md, and examples/hello-transport has one, with such a command.
//
// The command's interface is its command line, which strand --help describes. Nothing of it is
// to be called from Go but [Main].
package strandcmd

import (
	"os"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// Main is the main function of a program that is the command strand: it carries out the
// command line in [os.Args] and ends the process with the command's status. It does not return.
//
// Call it before anything else in main, and leave the arguments alone. Some commands start
// the same program again, for ranks, for what happens on emulated hosts and on other
// machines, with arguments of their own that Main understands.
func Main() {
	netspace.Start()
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
