package strandcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/lab/peers"
	"github.com/strandmp/strand/internal/lab/report"
	"github.com/strandmp/strand/internal/machine"
	"github.com/strandmp/strand/param"
)

const benchPeersLong = `Makes a page, with its figures as JSON and its plots, of how Strand does beside
Open MPI, MPICH and raw sockets on this host: half round trips, streams, rates,
bursts, pairs and depths, over shared memory and TCP. Aims are held against the
intervals of the ratios; cells that fall short are marked, and joined with the
reasons that stand in reasons.txt beside the figures.

All are started anew for each round, and take turns within it. A full page takes
up to 25 minutes on two processors, --quick up to 6; --limit makes blocks and rounds
fewer. Below 6 rounds nothing is decided. The figures are saved after each
round: --resume goes on where a run was interrupted.

The page is marked INVALID, and the status is 1, if the machine was not quiet.
Whoever is not installed has a dash in each cell.`

// A benchPeersRun is one use of the command.
type benchPeersRun struct {
	out, from, baseline string
	commit              string
	quick, resume, json bool
	rounds              int
	limit               time.Duration
	only, against       []string
}

func newBenchPeersCommand() *cobra.Command {
	run := &benchPeersRun{}
	cmd := &cobra.Command{
		Use: "peers [flags]", Short: "Make a page of Strand beside Open MPI, MPICH and raw sockets", Long: benchPeersLong,
		Example: `  strand bench peers --out docs/PERFORMANCE.md
  strand bench peers --quick --limit 6m
  strand bench peers --only tcp/stream,sm/pingpong --out streams.md
  strand bench peers --baseline old.json
  strand bench peers --from performance/results.json --baseline old.json`,
		Args:                  noArguments,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return run.run(cmd) },
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&run.out, "out", "PERFORMANCE.md", "the page, a `file.md`; figures and plots go into a folder of that name beside it")
	flags.BoolVar(&run.quick, "quick", false, "fewer sizes, and 6 rounds")
	flags.IntVar(&run.rounds, "rounds", 0, "how often all are started anew; 0: 9, or 6 with --quick")
	flags.DurationVar(&run.limit, "limit", 0, "how long it may take, `15m`: fewer blocks, and no round that would end later; 0s: 25m, or 6m with --quick")
	flags.StringSliceVar(&run.only, "only", nil, "tables such as `tcp/stream,sm`, a transport for all of its; without it all")
	flags.StringSliceVar(&run.against, "against", []string{"raw", "openmpi", "mpich"}, "who Strand is compared with")
	flags.BoolVar(&run.resume, "resume", false, "go on with the figures that are there, of the same build")
	flags.StringVar(&run.from, "from", "", "measure nothing: make the page of the figures in this `file`")
	flags.StringVar(&run.baseline, "baseline", "", "say what has changed since the figures in this `file`")
	flags.StringVar(&run.commit, "commit", "", "what the page calls this build; without it what the build knows of itself")
	flags.BoolVar(&run.json, "json", false, "write the figures, not the summary")
	return cmd
}

func (r *benchPeersRun) run(cmd *cobra.Command) error {
	err := r.check()
	if err == nil && r.from != "" {
		err = checkFrom(cmd.Flags(), "from", "baseline", "out", "json")
	}
	if err != nil {
		return usageError{err}
	}
	files := peers.Files{Page: r.out}
	if err := files.Check(); err != nil {
		return usageError{err}
	}
	var then *peers.Report
	if r.baseline != "" {
		var err error
		if then, err = peers.Load(r.baseline); err != nil {
			return usageError{fmt.Errorf("--baseline: %w", err)}
		}
	}
	report, folder, err := r.begin(files)
	if err != nil {
		return err
	}
	defer folder.Close()
	if r.from == "" {
		err = r.measure(cmd, files, report)
	}
	if len(report.Rounds) == 0 {
		_ = os.Remove(files.Folder()) // unless there is something in it
		return err
	}
	published := files.Publish(report)
	return errors.Join(err, published, r.show(cmd, report, then, published == nil))
}

func (r *benchPeersRun) check() error {
	switch {
	case r.rounds < 0:
		return fmt.Errorf("--rounds %d: want 1 or more, or 0 for 9", r.rounds)
	case r.limit < 0:
		return fmt.Errorf("--limit %v: want a time above 0, such as --limit 15m", r.limit)
	case r.from != "" && r.resume:
		return errors.New("--from measures nothing, --resume goes on measuring: choose one of them")
	}
	for _, name := range r.against {
		if !slices.Contains(peers.Names(), name) {
			return fmt.Errorf("--against %q: want one or more of %s, separated by commas%s", name, strings.Join(peers.Names(), ", "), didYouMean(name, peers.Names()))
		}
	}
	return nil
}

// didYouMean names what a mistyped name is nearest to.
func didYouMean(name string, names []string) string {
	if near := param.Nearest(name, slices.Values(names)); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// begin returns the report to fill, or the one that is there, and the folder for it, which is this run's alone until it is closed. Figures
// that are to be added to are read when nobody else adds to them.
func (r *benchPeersRun) begin(files peers.Files) (report *peers.Report, folder *os.File, err error) {
	if !r.resume {
		if report, err = r.report(files); err != nil {
			return nil, nil, usageError{err}
		}
		if err = os.MkdirAll(files.Folder(), 0o755); err != nil {
			return nil, nil, err
		}
	}
	folder, err = reserve(files.Folder(), fmt.Errorf("--out %s: another strand bench peers writes its figures there: give another file", r.out))
	if r.resume && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		if report, err = r.report(files); err != nil {
			err = usageError{err}
		}
	}
	if err != nil {
		folder.Close() // of nil that is an error
	}
	return report, folder, err
}

// report returns the report to fill, or the one that is there.
func (r *benchPeersRun) report(files peers.Files) (*peers.Report, error) {
	if r.from != "" {
		report, err := peers.Load(r.from)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		return report, nil
	}
	if r.rounds == 0 {
		r.rounds = peers.Rounds(r.quick)
	}
	if r.limit == 0 {
		r.limit = peers.Limit(r.quick)
	}
	tables, err := peers.Plan(r.quick, r.only)
	if err != nil {
		return nil, err
	}
	fresh := peers.New(tables, r.rounds)
	fresh.Commit, fresh.Quick = cmp.Or(r.commit, buildName(buildInfo())), r.quick
	fresh.Command = commandLine()
	fresh.Machine = machine.This()
	fresh.Machine.Host = "" // what it is called is no condition
	if !r.resume {
		return fresh, nil
	}
	old, err := peers.Load(files.Results())
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	return old, old.GoesOnAs(fresh)
}

// commandLine is how the page can be made again, of any build.
func commandLine() string {
	words := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(word string) bool { return strings.HasPrefix(word, "--commit=") })
	return report.Quoted(append([]string{"strand"}, words...))
}

func (r *benchPeersRun) measure(cmd *cobra.Command, files peers.Files, report *peers.Report) error {
	dir, err := bench.NewFolder()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(commandContext(cmd), dir)
	defer stop()
	launched, err := bench.Launched(ctx)
	switch {
	case err != nil:
		return err
	case launched:
		return usageError{errors.New("strand bench peers starts all it measures itself: call it without a launcher")}
	}
	setups, err := r.setups(dir)
	if err != nil {
		return err
	}
	if busy := peers.Busy(); busy != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), busy)
	}
	bar := newProgress(cmd.ErrOrStderr())
	defer bar.finish()
	m := peers.Measurement{
		Report: report, Setups: setups, Rounds: r.rounds, Limit: r.limit,
		Save: func() error { return report.Save(files.Results()) }, Progress: bar.update,
	}
	if err := m.Run(ctx); err != nil {
		return r.interrupted(ctx, report, err)
	}
	return nil
}

// interrupted says what there is if a measurement has ended early.
func (r *benchPeersRun) interrupted(ctx context.Context, report *peers.Report, err error) error {
	signal, interrupted := errors.AsType[interruptError](context.Cause(ctx))
	if !interrupted {
		return err
	}
	if len(report.Rounds) == 0 { // nothing is saved
		return signal
	}
	return fmt.Errorf("%w after %d of %d rounds; --resume goes on", signal, len(report.Rounds), report.Planned)
}

// setups are how Strand and the others run over each transport. What is compiled is in the folder.
func (r *benchPeersRun) setups(dir string) (map[string]bench.Setup, error) {
	self, err := executable()
	if err != nil {
		return nil, err
	}
	setups := map[string]bench.Setup{}
	for _, t := range peers.Transports() {
		settings := []param.Setting{{Name: "btl", Text: t + ",self", Source: param.Source{Kind: param.Flag, Where: "strand bench peers"}}}
		params, err := resolve(settings)
		if err != nil {
			return nil, err
		}
		setups[t] = bench.Setup{
			Against: peers.Beside(t, r.against), Settings: settings, Memory: peers.Memory(t), Params: params,
			Program: self, Arguments: []string{"bench", "member"}, Dir: dir,
		}
	}
	return setups, nil
}

func (r *benchPeersRun) show(cmd *cobra.Command, report, then *peers.Report, written bool) error {
	out := cmd.OutOrStdout()
	if r.json {
		return writeJSON(out, report)
	}
	if err := report.WriteSummary(out); err != nil {
		return err
	}
	if then != nil {
		if err := peers.WriteChanges(out, then, report); err != nil {
			return err
		}
	}
	if written {
		fmt.Fprintf(out, "%s is written\n", r.out)
	}
	if problems := report.Problems(); len(problems) > 0 {
		return fmt.Errorf("the run is INVALID: %s; try again when the machine is quiet", strings.Join(problems, "; "))
	}
	return nil
}
