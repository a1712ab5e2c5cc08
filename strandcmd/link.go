package strandcmd

import (
	"context"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/netspace"
)

const linkCheckLong = `Measures how exactly this machine emulates bad networks: builds networks of two
hosts with delays of 0 to 50 ms, rates of 10 to 1000 Mbit/s and losses of 0 to
10 %, measures each from outside, and prints what was asked and what came of it.
It takes half a minute and needs no rights but those to namespaces.`

const linkTCPLong = `Has one TCP connection send what it can over a link of 5 Mbit/s and 100 ms of
round trip, with several losses, by the link in user space and by the kernel's
netem in turn, ten times each, and prints the means with their confidence
intervals. It takes eight minutes and a kernel with netem.`

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
	var backend string
	check := newLinkMeasurement("check", "What was asked of emulated links, and what came of it", linkCheckLong,
		"  strand link check\n  strand link check --backend netem --json >accuracy.json",
		func(ctx context.Context, out io.Writer, bar *progress) error {
			return checkLinks(ctx, out, bar, backend, asJSON)
		})
	check.Flags().StringVar(&backend, "backend", "user-space", "what emulates the links: user-space or netem")
	tcp := newLinkMeasurement("tcp", "TCP over a link in user space and over netem", linkTCPLong, "  strand link tcp",
		func(ctx context.Context, out io.Writer, bar *progress) error {
			return contestLinks(ctx, out, bar, asJSON)
		})
	for _, c := range []*cobra.Command{check, tcp} {
		c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
		cmd.AddCommand(c)
	}
	return cmd
}

// newLinkMeasurement is a command that builds networks.
func newLinkMeasurement(name, short, long, example string, measure func(context.Context, io.Writer, *progress) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Long: long, Example: example,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return isolated(func() error {
				ctx, stop := signal.NotifyContext(commandContext(cmd), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
				defer stop()
				return measure(ctx, cmd.OutOrStdout(), newProgress(cmd.ErrOrStderr()))
			})
		},
	}
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
