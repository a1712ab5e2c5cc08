package strandcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/internal/tryout"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/selection"
	"github.com/strandmp/strand/wireup"
)

var reachLong = `Shows which addresses of this host and of a peer a program would connect with
each other, and why: this host's interfaces, the weight of every pair of
addresses, the chosen pairs, and for every other pair the reason it is not used.

A host knows only its own interfaces. strand reach --blob prints them as one word;
given to --peer on the other host it says all that a peer would publish. With a
host name or an address for --peer, only what the name service tells is known of
the peer: neither its masks nor its speeds, nor which addresses share a card.

What two hosts know need not be so: networks of one subnet may not be joined, a
firewall may drop. --try finds out. It starts the command given, with the words
"reach --answer" behind it, which is to start strand on the other host; then both
connect from each of their addresses to each of the other's, on ports that a program
might use (btl_tcp_port_min), and what became of it is told for both directions.

Only those networks are looked at that the parameters select (btl_tcp_if_include and
btl_tcp_if_exclude; -p, environment, files), as a program here would. The policy is
that of btl_tcp_reach unless --policy names another.

Policies judge a pair of addresses:
` + strings.Join(reach.DescribePolicies("  %-12s%s"), "\n") + `
The weight of a pair with speeds a and b is quality × (min(a,b) + 1/(1+|a−b|));
the pairs with the largest sum are chosen, each card used once. The status is 1 if there is none; with --try, if none works.`

const reachExample = `  strand reach
  strand reach --peer node2
  strand reach --peer "$(ssh node2 strand reach --blob)"
  strand reach --peer "$(ssh node2 strand reach --blob)" --policy weighted
  strand reach --peer node2 -p btl_tcp_if_exclude=docker0
  strand reach --try ssh node2 strand
  strand reach --peer 10.8.47.2 --json`

// A reachRun is one use of strand reach.
type reachRun struct {
	settings     []param.Setting
	peer, policy string
	blob, json   bool
	try, answer  bool
	timeout      time.Duration
	command      []string // that starts strand on the other host
}

func newReachCommand() *cobra.Command {
	run := &reachRun{}
	cmd := &cobra.Command{
		Use:     "reach [flags] [command that starts strand on the other host]",
		Short:   "Show which networks two hosts would use between them, and why",
		Long:    reachLong,
		Example: reachExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(together(cmd.Flags(), "blob", "peer", "json"), together(cmd.Flags(), "try", "peer", "blob", "answer")); err != nil {
				return err
			}
			switch {
			case len(args) > 0 && !run.try:
				return usageError{fmt.Errorf("unexpected argument %q: a peer is named by --peer %s", args[0], args[0])}
			case len(args) == 0 && run.try:
				return usageError{errors.New("--try needs the command that starts strand on the other host: strand reach --try ssh node2 strand")}
			}
			if err := tryout.CheckTimeout(run.timeout); err != nil {
				return usageError{fmt.Errorf("--timeout: %w", err)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if run.answer {
				return answerTry(commandContext(cmd), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			run.command = args
			return run.run(commandContext(cmd), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&run.peer, "peer", "", "the other host: its name, its address, or what strand reach --blob prints there")
	addSettingFlags(flags, &run.settings)
	flags.StringVar(&run.policy, "policy", "", "how pairs are judged: "+strings.Join(reach.PolicyNames(), ", ")+" (default: btl_tcp_reach)")
	flags.BoolVar(&run.blob, "blob", false, "print this host's interfaces as one word, for --peer on another host")
	flags.BoolVar(&run.json, "json", false, "write JSON")
	flags.BoolVar(&run.try, "try", false, "try which addresses can be connected, together with strand on the other host, which the command given starts")
	flags.DurationVar(&run.timeout, "timeout", 4*time.Second, "how long --try waits for each attempt")
	flags.BoolVar(&run.answer, "answer", false, "be the other host of a --try")
	flags.SetInterspersed(false) // the command has flags of its own
	if err := flags.MarkHidden("answer"); err != nil {
		panic(err) // it was declared two lines before
	}
	return cmd
}

func (r *reachRun) run(ctx context.Context, out, errs io.Writer) error {
	values, err := resolve(r.settings)
	if err != nil {
		return err
	}
	if err := checkTCP(values); err != nil {
		return usageError{err}
	}
	if r.policy == "" {
		r.policy = values.String("btl_tcp_reach")
	}
	policy, err := reach.PolicyByName(r.policy)
	if err != nil {
		return usageError{fmt.Errorf("--policy: %w", err)}
	}
	local, err := ownSide(values, warnTo(errs))
	if err != nil {
		return err
	}
	if r.blob {
		return writeBlob(out, local)
	}
	report := reachReport{Policy: policy.Name(), Host: machine.Hostname(), Interfaces: interfaceInfos(local), Pairs: []pairInfo{}, Rejected: []pairInfo{}}
	if r.peer != "" {
		peer, err := peerSide(ctx, r.peer, local)
		if err != nil {
			return err
		}
		report.match(local, peer, policy)
	}
	if r.try {
		h, err := tryHost(values, local)
		if err != nil {
			return err
		}
		result, err := r.tryPeer(ctx, h, r.command, errs)
		if err != nil {
			return err
		}
		report.match(local, result.Side, policy)
		report.tried(result, r.timeout)
	}
	if r.json {
		err = writeJSON(out, report)
	} else {
		err = report.write(out)
	}
	switch {
	case err == nil && r.peer != "" && len(report.Pairs) == 0:
		return errNoPair
	case err == nil && r.try && !report.usable():
		return errNoneWorks
	}
	return err
}

// checkTCP refuses parameters that leave out tcp: the command shows tcp's networks.
func checkTCP(values *param.Values) error {
	v := values.Value("btl")
	list, err := selection.Parse(v.Text, v.Source)
	if err == nil {
		_, err = list.Components(btl.Default)
	}
	if err == nil && !list.Allows("tcp") {
		err = fmt.Errorf("btl=%s (from %v) leaves out tcp, whose addresses these are", v.Text, v.Source)
	}
	return err
}

// warnTo returns a function that tells of networks that do not exist.
func warnTo(errs io.Writer) func(error) {
	return func(err error) { fmt.Fprintln(errs, "strand reach:", err) }
}

var errNoneWorks = errors.New("no pair of addresses that would be used works; the reasons are above")

// errNoPair makes the command fail, so that a script can ask whether two hosts
// reach each other.
var errNoPair = errors.New("no pair of addresses works; the reasons are above. " +
	"Compare this host's routes (ip route get), or try --policy weighted, which does not ask for them")

// ownSide returns the addresses of this host that a program here would use and publish. warn is
// called for a network that does not exist, where that is no mistake.
func ownSide(values *param.Values, warn func(error)) (reach.Side, error) {
	side, err := reach.System()
	if err != nil {
		return side, err
	}
	choice := wireup.ChoiceOf(values, "btl_tcp_", warn)
	all := side.Addresses
	if side.Addresses, err = choice.Select(all); err != nil {
		return side, usageError{err}
	}
	for _, a := range all {
		if !slices.Contains(side.Addresses, a) {
			side.Held = append(side.Held, a.Addr())
		}
	}
	return side, nil
}

// writeBlob prints what --peer takes.
func writeBlob(out io.Writer, local reach.Side) error {
	text, err := local.MarshalText()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", text)
	return err
}
