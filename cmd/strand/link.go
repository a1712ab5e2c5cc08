package main

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/netspace"
)

const linkCheckLong = `Measures how exactly this machine emulates bad networks: builds networks of two
hosts with delays of 0 to 50 ms, rates of 10 to 1000 Mbit/s and losses of 0 to
10 %, measures each from outside, and prints what was asked and what came of it.
It takes half a minute and needs no rights but those to namespaces.`

// newLinkCommand is for those who work on the emulation.
func newLinkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "link", Short: "Emulated links", Hidden: true,
		Example: "  strand link check",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: suggestionDistance,
	}
	var asJSON bool
	check := &cobra.Command{
		Use: "check", Short: "What was asked of emulated links, and what came of it", Long: linkCheckLong,
		Example: "  strand link check\n  strand link check --json >accuracy.json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return isolated(func() error {
				ctx, stop := signal.NotifyContext(commandContext(cmd), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
				defer stop()
				return checkLinks(ctx, cmd.OutOrStdout(), newProgress(cmd.ErrOrStderr()), asJSON)
			})
		},
	}
	check.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.AddCommand(check)
	return cmd
}

// isolated runs a command where it may build networks: the whole program once
// more, in namespaces of its own.
func isolated(run func() error) error {
	if netspace.Isolated() {
		return run()
	}
	status, err := netspace.Isolate()
	if err == nil && status != 0 {
		return statusError(status)
	}
	return err
}

// A statusError is the status of a process that has said what was wrong.
type statusError int

func (statusError) Error() string     { return "" }
func (e statusError) ExitStatus() int { return int(e) }
