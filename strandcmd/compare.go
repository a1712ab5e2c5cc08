package strandcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/lab/results"
)

const compareLong = `Runs the same workloads over several transports, on bad networks that it builds
for the purpose, and tells how well each did.

For each cell - a workload with its parameters, over one kind of network - the
transports take turns, A B C, B C A, C A B, --runs times each, and are compared
round by round; below six runs there is no verdict. Each run has ranks of its own,
started for it, each on a host of its own (a network namespace), joined by links that
delay and lose frames as asked. With --emulation user all chances follow
from --seed: in one round all transports meet the same. Every workload checks all data
it receives.

The superuser is not needed: who is none gets a user namespace. Where that is
forbidden, the command says what forbids it, and what needs no emulation runs over
the loopback.

Hosts may have several networks, with an interface, rate and conditions for each:
--networks says how many, each as the flags say. --network, once for each of the
first, says what that has otherwise: name, rate, queue, delay, jitter, loss, reorder,
duplicate, corrupt, and when it is down: down=2s+1s lets nothing through from 2 s after
its start on, for 1 s; down=2s+1s;5s+500ms/10s twice, and both again every 10 s. The
results say what each network carried, and when it was down.

With --host, given once for each of two hosts or more, the ranks run there, in turn,
and the network between them is as it is. Each host needs this very strand, at the same
path or at --host-strand, and a shell that starts it without asking for a password:
ssh, or what --rsh says. All that ranks and launcher say to each other goes through
that shell.

A transport may have parameters, in parentheses: a name by itself is one of the
transport's own, streams for btl_sctp_streams; a full name is any (strand info
--param all). So may a workload: farm(size=300000,fanout=10). Quote them for the
shell. Congestion control, buffers and Nagle's algorithm are the same for all unless
a transport says otherwise.

Results are in --out as they come, results.json, and in the end a page with plots,
report.html: Ctrl-C keeps what there is. A run in which Ctrl-Z stopped the command is
done again. --from draws both table and page of older results again; --baseline says
what has changed since older ones, beside the first transport: the control, by which
the machine's own changes are told from others. A transport that can not run here, and
a run that fails, are reported in their places; the rest goes on. One that stays within
a host needs --loopback: each rank of an emulated network is on a host of its own.

The exit status is 0 if there are results, even if some runs failed; 1 if there
are none, 2 for a mistake in the command line, 130 after Ctrl-C.`

const compareExample = `  strand compare
  strand compare --btl tcp,sctp --loss 0,1,2 --delay 5ms --rate 1gbit --ranks 8 --workload farm --runs 9
  strand compare --btl 'sctp(streams=10),sctp(streams=1)' --workload 'hol,farm(fanout=10)' --loss 1
  strand compare --btl 'tcp(congestion=cubic),tcp(congestion=bbr,links=4)' --rate 100mbit,1gbit
  strand compare --loss 1/8 --jitter 1ms --out bursts/
  strand compare --btl tcp --networks 1,2 --rate 100mbit --loss 0
  strand compare --networks 2 --network 'name=main,down=2s+1s' --network 'name=spare,rate=100mbit,delay=20ms'
  strand compare --host node1 --host node2 --workload pingpong,farm --runs 9
  strand compare --workload 'nas(kernel=cg,class=S),nas(kernel=mg,class=S)' --loss 0,1 --delay 10ms --ranks 4 --timeout 3m
  strand compare --from bursts/results.json --baseline older/results.json`

func newCompareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use: "compare [flags]", Short: "Compare transports over bad networks", Long: compareLong, Example: compareExample,
		Args:                  noArguments,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
		DisableFlagsInUseLine: true,
	}
	f.declare(cmd.Flags())
	cmd.AddCommand(newCompareMemberCommand())
	return cmd
}

// newCompareMemberCommand is the hidden command as which strand compare starts each rank.
func newCompareMemberCommand() *cobra.Command {
	return &cobra.Command{
		Use: "member order", Short: "One rank of a run", Hidden: true,
		Example: "  strand compare",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compare.Member(commandContext(cmd), args[0], os.Stdout)
		},
	}
}

func (f *compareFlags) run(cmd *cobra.Command) error {
	if err := together(cmd.Flags(), "json", "markdown"); err != nil {
		return err
	}
	baseline, err := f.before()
	if err != nil {
		return err
	}
	if f.from != "" {
		return f.redraw(cmd, baseline)
	}
	if err := f.checkHosts(cmd.Flags()); err != nil {
		return usageError{err}
	}
	plan, err := f.plan()
	if err == nil {
		err = f.checkIdle(cmd.Flags(), plan)
	}
	if err == nil && len(f.hosts) == 0 {
		err = plan.CheckRoom(!f.loopback)
	}
	if err != nil {
		return usageError{err}
	}
	forbidden := ""
	if !f.loopback && len(f.hosts) == 0 && !netspace.Isolated() {
		status, err := netspace.Isolate(suspend) // carries out the whole command
		if err == nil {
			return asError(status)
		}
		forbidden = err.Error()
	}
	if netspace.Isolated() {
		// In a process group of its own this process writes to the terminal from the background. A terminal that stops who does so
		// (stty tostop) can not stop the first process of a namespace, and each write would begin anew for ever.
		signal.Ignore(syscall.SIGTTOU)
	}
	// From here on a signal is an interruption: what would end any other process does not end the first one of a namespace in order.
	ctx, stop := interruptible(commandContext(cmd))
	defer stop()
	ground, err := f.ground(ctx, cmd, plan, forbidden)
	if signal, interrupted := errors.AsType[interruptError](context.Cause(ctx)); interrupted {
		return signal
	}
	if err != nil {
		return err
	}
	if plan.Pins, err = f.pins(plan.Pins.Common); err != nil {
		return usageError{err}
	}
	return f.compare(ctx, cmd, plan, ground, baseline)
}

// ground returns where the runs take place. forbidden is why this process is not one that may build networks, though that is
// asked for.
func (f *compareFlags) ground(ctx context.Context, cmd *cobra.Command, plan compare.Plan, forbidden string) (ground compare.Ground, err error) {
	switch {
	case len(f.hosts) > 0:
		return f.realNetwork(ctx)
	case f.loopback:
		return compare.Loopback{Why: "asked for by --loopback"}, nil
	case forbidden == "":
		if ground, err = compare.Emulate(ctx, plan.Wanted(), plan.MTU, f.emulation); err == nil || ctx.Err() != nil {
			return ground, err
		}
		if f.emulation != compare.Emulations[0] {
			return nil, fmt.Errorf("--emulation %s: %w", f.emulation, err)
		}
		forbidden = err.Error()
		if err := netspace.RaiseLoopback(); err != nil {
			return nil, fmt.Errorf("no emulated networks: %s; and %w", forbidden, err)
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n%[1]s: without, there are results over the loopback of this host only, and none with loss\n", cmd.CommandPath(), forbidden)
	return compare.Loopback{Why: forbidden}, nil
}

// asError returns the error for the exit status of another process. It has no text: that process
// has said what was wrong.
func asError(status int) error {
	if status == 0 {
		return nil
	}
	return statusError(status)
}

// resultsFile is the name of a comparison's results in its folder.
const resultsFile = "results.json"

// compare runs a plan and shows the results.
func (f *compareFlags) compare(ctx context.Context, cmd *cobra.Command, plan compare.Plan, ground compare.Ground, baseline *results.Report) error {
	file, folder, err := f.file()
	if err != nil {
		return err
	}
	defer folder.Close()
	there, err := os.Stat(file)
	older := err == nil && there.Mode().IsRegular() // which --overwrite allows to replace
	program, err := self()
	if err != nil {
		return err
	}
	show := newCompareShow(cmd, f, baseline)
	stopped, forget := continued()
	defer forget()
	r, err := compare.Run(ctx, compare.Config{
		Plan: plan, Ground: ground, Program: program, Arguments: []string{"compare", "member"},
		Command: append([]string{"strand"}, os.Args[1:]...), Version: versionLine(buildInfo()), File: file, Older: older, Watch: show.update, Stopped: stopped,
	})
	var shown error
	switch {
	case r == nil:
	case older && !r.Measured(): // what is there is better than nothing
		shown = show.show(r)
	default:
		report.Sum(r)
		saved := results.Save(file, r)
		if saved != nil && err != nil && saved.Error() == err.Error() {
			err = nil // that nothing can be saved has ended it, which is told once
		}
		shown = show.end(r, file, filepath.Dir(file), saved)
	}
	if signal, interrupted := errors.AsType[interruptError](context.Cause(ctx)); interrupted {
		return errors.Join(signal, shown) // the status is the signal's
	}
	if err == nil && shown == nil && r != nil && !succeeded(r) {
		err = errors.New("no run has succeeded: there is nothing to compare")
	}
	return errors.Join(err, shown)
}

// succeeded reports whether any run has succeeded.
func succeeded(r *results.Report) bool {
	return slices.ContainsFunc(r.Cells, func(c results.Cell) bool {
		return slices.ContainsFunc(c.Runs, func(run results.Run) bool { return run.Error == "" })
	})
}

// file makes the folder for the results, if need be, and returns the path of their file. The folder is the comparison's alone until it
// is closed.
func (f *compareFlags) file() (file string, folder *os.File, err error) {
	dir := f.out
	if dir == "" {
		dir, err = newFolder("compare-" + time.Now().Format("20060102-150405"))
	} else {
		err = makeFolder(dir)
	}
	if err == nil {
		folder, err = reserve(dir, fmt.Errorf("--out %s: another strand compare writes its results there: give another folder", dir))
	}
	if err != nil {
		return "", nil, err
	}
	if file, err = f.fileIn(dir, ""); err != nil {
		folder.Close()
	}
	return file, folder, err
}

// newFolder makes a folder that was not there, with a number behind its name if need be: two comparisons may begin in the same
// second, and would write over each other's results.
func newFolder(name string) (string, error) {
	for number := 1; ; number++ {
		dir := name
		if number > 1 {
			dir = fmt.Sprintf("%s-%d", name, number)
		}
		switch err := os.Mkdir(dir, 0o755); {
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("%w; --out names another folder for the results", err)
		}
	}
}

// makeFolder makes the folder of --out, if need be.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// fileIn makes a folder, if need be, and returns the path of the file for results in it. Without
// --overwrite it refuses a folder that has results already, unless they are in the file own.
func (f *compareFlags) fileIn(dir, own string) (string, error) {
	if err := makeFolder(dir); err != nil {
		return "", err
	}
	file := filepath.Join(dir, resultsFile)
	if there, err := os.Stat(file); err == nil && !f.overwrite && !isFile(there, own) {
		return "", usageError{fmt.Errorf("--out %s: there are results already (%s): give another folder, or --overwrite", dir, file)}
	}
	return file, nil
}

// isFile reports whether a path leads to the file that there describes.
func isFile(there os.FileInfo, path string) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(there, info)
}
