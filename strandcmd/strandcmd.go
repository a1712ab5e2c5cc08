// Package strandcmd is the command strand, to be built with transports of one's own.
//
// A transport is compiled into a program, and nothing is loaded at run time. The command opens
// transports itself, in strand info, bench, compare and conformance. To use it with a transport
// that does not come with Strand, build it anew with this main package:
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
// The program that strand run starts has to import the transport too: its ranks carry the
// messages, not the command. docs/WRITING-A-BTL.md tells how to write a transport.
// examples/hello-transport has one, with such a command.
//
// The command's interface is its command line, which strand --help describes. Only [Main] is to
// be called from Go.
package strandcmd

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// Main is the main function of a program that is the command strand. It carries out the command
// line in [os.Args] and ends the process with the command's status. It does not return.
//
// Call it before anything else in main, and leave the arguments alone. Some commands start the
// same program again, with arguments that only Main understands: for ranks, on emulated hosts
// and on other machines.
func Main() {
	netspace.Start()
	os.Exit(execute(os.Args[1:], os.Stdin, ownStdout(), os.Stderr))
}

// ownStdout is standard output. In the first process of a namespace, as which strand compare runs on its networks, it
// is a copy with another number: there a reader that has gone away (strand compare | head -1) would end the process by a signal
// that the kernel keeps from it, and with a status that means something else.
func ownStdout() *os.File {
	if os.Getpid() != 1 {
		return os.Stdout
	}
	fd, err := unix.FcntlInt(os.Stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return os.Stdout
	}
	os.Stdout = os.NewFile(uintptr(fd), "stdout")
	return os.Stdout
}
