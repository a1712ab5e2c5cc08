package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// execute runs one command line and returns the status to exit with.
func execute(args []string, stdin *os.File, stdout, stderr io.Writer) int {
	root := newRootCommand(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command := root
	args, err := foreignSpellings(root, args)
	if err == nil {
		root.SetArgs(args)
		command, err = root.ExecuteC()
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %s\n", command.CommandPath(), strings.TrimSpace(err.Error()))
	return exitStatus(err)
}

// exitStatus is what the error asks for, or 1.
func exitStatus(err error) int {
	var own interface{ ExitStatus() int }
	if errors.As(err, &own) {
		return own.ExitStatus()
	}
	return 1
}

func newRootCommand(stdin *os.File) *cobra.Command {
	root := &cobra.Command{
		Use:   "strand",
		Short: "Message passing over any network: start programs, look at transports, measure them",
		Long: `Strand moves messages between the processes of a parallel program, over the
networks they have. This command starts such programs and shows what the
transports below them do.`,
		Example: `  strand run -n 4 ./program
  strand run -n 8 --btl tcp,self -p btl_tcp_if_include=eth0 ./program argument
  strand info --param btl tcp
  strand reach --peer node2
  strand bench pingpong --against raw`,
		// Errors are printed once, by execute; usage only on request.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, c.CommandPath())}
	})
	root.AddCommand(
		newRunCommand(stdin, checkSettings),
		newInfoCommand(),
		newReachCommand(),
		newBenchCommand(),
		newVersionCommand(),
	)
	return root
}

// A usageError is a mistake in the command line: status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
func (usageError) ExitStatus() int { return 2 }
