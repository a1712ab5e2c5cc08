package strandcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/selection"
)

const benchLong = `Measures messages between two ranks, with pairs between several pairs at once, and with coll
collective calls of all ranks.

Started alone, the command starts the ranks, of itself, on this host. Under a
launcher it is the ranks: strand run -n 2 strand bench pingpong, or
mpiexec -hosts a,b -n 2 strand bench pingpong to measure between hosts.

With --against it measures Strand and others in the same run, on this host, in
short blocks that alternate, and prints the lower quartile of each, the median
and the ratio: raw is two spinning sockets, without headers or matching, that
nothing can beat over TCP; raw-udp is two of UDP, for pingpong alone; openmpi and mpich are those of this host, each
as it comes and as it should be fastest: the better one counts. Beside raw,
which has no shared memory, all are kept to TCP (Strand by --btl tcp,self) unless --btl
says otherwise. Beside openmpi and mpich alone all use what they use by themselves, shared
memory, unless --btl leaves sm out. Absolute
times tell little on a machine that does other things too; ratios do.

The processor time beside is that of all ranks, user and system. Who waits spins,
so with two ranks that only talk it is about twice the time.`

// benchCommands are the workloads, each a command.
var benchCommands = []struct {
	workload bench.Workload
	short    string
	example  string
}{
	{bench.PingPong, "How long a message takes: half the round trip",
		`  strand bench pingpong
  strand bench pingpong --sizes 8,64K,1M --against raw,openmpi
  strand bench pingpong --sizes 1:64K --btl tcp -p btl_tcp_congestion=reno --json
  strand run -n 2 strand bench pingpong`},
	{bench.Exchange, "How long it takes two ranks to send each other a message at the same time",
		`  strand bench exchange --sizes 8,16K,1M
  strand bench exchange --btl sm,self --against openmpi,mpich
  strand run -n 2 strand bench exchange`},
	{bench.Stream, "How many bytes a second, in windows of messages",
		`  strand bench stream --sizes 64K:4M
  strand bench stream --sizes 1M --window 16 --against raw
  strand bench stream --sizes 64K --window 1:256 --against openmpi`},
	{bench.Rate, "How many messages a second, in windows of messages",
		`  strand bench rate
  strand bench rate --sizes 8,64 --window 64 --against openmpi`},
	{bench.Burst, "How many bytes a second, in windows after computing",
		`  strand bench burst --pause 20ms
  strand bench burst --pause 1ms --window 16 --sizes 64K,256K --against openmpi`},
	{bench.Pairs, "How many messages and bytes a second, of several pairs of ranks at once",
		`  strand bench pairs
  strand bench pairs --pairs 2,4 --sizes 8,64K --against openmpi,mpich
  strand bench pairs --pairs 4 --btl sm,self --against openmpi --json
  strand run -n 8 strand bench pairs`},
	{bench.Coll, "How long collective calls take",
		`  strand bench coll
  strand bench coll --calls allreduce,bcast --ranks 4,8 --sizes 8,1M --btl tcp,self --against openmpi,mpich
  strand bench coll --calls allreduce --ranks 8 -p coll_allreduce=ring
  strand run -n 8 strand bench coll`},
}

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure messages, and compare with raw sockets and other libraries",
		Long:  benchLong,
		Example: `  strand bench pingpong
  strand bench pingpong --sizes 8,64K,1M --against raw,openmpi
  strand bench rate --against openmpi,mpich`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: suggestionDistance,
	}
	for _, c := range benchCommands {
		cmd.AddCommand(newWorkloadCommand(c.workload, c.short, c.example))
	}
	cmd.AddCommand(newBenchPeersCommand(), newBenchMemberCommand())
	return cmd
}

// newBenchMemberCommand is the hidden command as which strand bench --against starts each
// process that is measured.
func newBenchMemberCommand() *cobra.Command {
	return &cobra.Command{
		Use: "member spec", Short: "One process that is measured", Hidden: true,
		Example: "  strand bench pingpong --against raw",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return bench.Member(commandContext(cmd), args[0]) },
	}
}

// A benchRun is one use of a workload's command.
type benchRun struct {
	workload bench.Workload
	sizes    string
	iters    int
	warmup   int
	windows  string
	pairs    string
	ranks    string
	calls    []string
	pause    time.Duration
	blocks   int
	timeout  time.Duration
	against  []string
	settings []param.Setting
	json     bool
	profile  string
}

func newWorkloadCommand(w bench.Workload, short, example string) *cobra.Command {
	run := &benchRun{workload: w}
	cmd := &cobra.Command{
		Use: string(w) + " [flags]", Short: short, Long: short + ".\n\n" + benchLong, Example: example,
		Args:                  noArguments,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return run.run(cmd) },
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&run.sizes, "sizes", "", "message sizes, `8,64K,1M` or 1:4M for the powers of two from 1 to 4M")
	flags.IntVar(&run.iters, "iters", 0, "round trips, or windows, that are measured for each size; with --against in each block; 0: as many as suit the size")
	flags.IntVar(&run.warmup, "warmup", -1, "round trips, or windows, before the clock starts; negative: as many as suit the size")
	run.windows, run.pairs = "1", "1"
	const window = "messages that are sent for each answer, `64`, or several such as 1,16 or 1:256"
	switch w {
	case bench.PingPong, bench.Exchange:
	case bench.Coll:
		flags.StringVar(&run.ranks, "ranks", "4,8,16", "ranks of the job, `4,8,16`; under a launcher it says how many")
		flags.StringSliceVar(&run.calls, "calls", bench.Calls(), "collective calls, separated by commas")
	case bench.Burst:
		flags.StringVar(&run.windows, "window", "16", window)
		flags.DurationVar(&run.pause, "pause", 20*time.Millisecond, "how long both ranks compute before each window, 0s to "+bench.MaxPause.String())
	default:
		flags.StringVar(&run.windows, "window", "64", window)
	}
	if w == bench.Pairs {
		flags.StringVar(&run.pairs, "pairs", "2,4,8", "pairs of ranks at once, `2,4,8`; under a launcher half of its ranks")
	}
	flags.StringSliceVar(&run.against, "against", nil, "compare with raw, raw-udp, openmpi, mpich: one or more, separated by commas")
	flags.IntVar(&run.blocks, "blocks", 48, "alternating blocks of each, with --against")
	flags.DurationVar(&run.timeout, "timeout", 2*time.Minute, "how long a block may take, with --against; 0s: as long as it likes")
	flags.BoolVar(&run.json, "json", false, "write JSON")
	flags.StringVar(&run.profile, "cpuprofile", "", "write where each rank's processor time went to `file`.0, file.1 and so on, for go tool pprof")
	addSettingFlags(flags, &run.settings)
	return cmd
}

func (r *benchRun) run(cmd *cobra.Command) error {
	cells, err := r.checked()
	if err != nil {
		return usageError{err}
	}
	ctx := commandContext(cmd)
	launched, err := bench.Launched(ctx)
	switch {
	case err != nil:
		return err
	case launched && len(r.against) > 0:
		return usageError{errors.New("--against starts all it measures itself: call strand bench without a launcher")}
	case len(r.against) > 0 && r.profile != "":
		return usageError{errors.New("--cpuprofile is of Strand's ranks alone: call strand bench without --against")}
	case r.profile != "" && slices.ContainsFunc(cells, func(c bench.Cell) bool { return c.Processes() != cells[0].Processes() }):
		return usageError{errors.New("--cpuprofile is of one job: give one number of --ranks, or of --pairs")}
	case launched:
		return r.direct(ctx, cmd, cells)
	case len(r.against) > 0:
		return r.compare(ctx, cmd, cells)
	}
	return r.startAll(cmd, cells)
}

// checked returns what is to be measured, and what is wrong with the flags.
func (r *benchRun) checked() ([]bench.Cell, error) {
	switch {
	case r.iters < 0:
		return nil, fmt.Errorf("--iters %d: want 1 or more, or 0 to choose by size", r.iters)
	case r.pause < 0 || r.pause > bench.MaxPause:
		return nil, fmt.Errorf("--pause %v: want 0s to %v", r.pause, bench.MaxPause)
	case r.timeout < 0:
		return nil, fmt.Errorf("--timeout %v: want a time, or 0s for none", r.timeout)
	}
	for _, name := range r.against {
		if slices.Contains(bench.Peers(), name) {
			if err := bench.CanPlay(name, r.workload); err != nil {
				return nil, err
			}
			continue
		}
		return nil, fmt.Errorf("--against %q: want one or more of %s, separated by commas%s", name, strings.Join(bench.Peers(), ", "), didYouMean(name, bench.Peers()))
	}
	if len(r.against) > 0 && r.blocks < bench.MinBlocks {
		return nil, fmt.Errorf("--blocks %d: want at least %d, better 20: the result is their lower quartile", r.blocks, bench.MinBlocks)
	}
	windows, err := bench.ParseCounts("--window", r.windows, "messages", bench.MaxWindow)
	if err != nil {
		return nil, err
	}
	pairs, err := bench.ParseCounts("--pairs", r.pairs, "pairs", bench.MaxPairs)
	if err != nil {
		return nil, err
	}
	sizes := r.workload.DefaultSizes(len(r.against) > 0)
	if r.sizes != "" {
		sizes, err = bench.ParseSizes(r.sizes)
	}
	if r.workload == bench.Coll && err == nil {
		ranks, err := bench.ParseCounts("--ranks", r.ranks, "ranks", bench.MaxRanks)
		if err != nil {
			return nil, err
		}
		return bench.CallCells(r.calls, ranks, sizes)
	}
	if (r.workload == bench.Stream || r.workload == bench.Burst) && slices.Contains(sizes, 0) {
		return nil, fmt.Errorf("--sizes %s: messages of 0 bytes have no bandwidth: want 1 byte or more; strand bench rate counts messages", r.sizes)
	}
	return bench.Cells(r.workload, pairs, windows, r.pause, sizes), err
}

// startAll starts this very command as a job, for each number of pairs.
func (r *benchRun) startAll(cmd *cobra.Command, cells []bench.Cell) error {
	if _, err := resolve(r.settings); err != nil {
		return err
	}
	if err := bench.CheckRoom(cells, 1); err != nil {
		return usageError{err}
	}
	self, err := executable()
	if err != nil {
		return err
	}
	signals, stop := forwarded()
	defer stop()
	all := benchRows{Workload: r.workload}
	for i, c := range cells {
		if i > 0 && cells[i-1].Processes() == c.Processes() {
			continue
		}
		var said bytes.Buffer
		out := cmd.OutOrStdout()
		if r.json {
			out = &said
		}
		if err := job.Run(commandContext(cmd), job.Config{
			Ranks: c.Processes(), Program: self, Args: os.Args[1:],
			Stdout: out, Stderr: cmd.ErrOrStderr(),
			Signals: signals, Suspend: suspend,
		}); err != nil {
			return err
		}
		if some := (benchRows{}); r.json {
			if err := json.Unmarshal(said.Bytes(), &some); err != nil {
				return fmt.Errorf("rank 0 of %d wrote %.80q: %w", c.Processes(), said.Bytes(), err)
			}
			all.Rows, all.Connections = append(all.Rows, some.Rows...), append(all.Connections, some.Connections...)
		}
	}
	if !r.json {
		return nil
	}
	return writeJSON(cmd.OutOrStdout(), all)
}

// benchRows is what a measurement without --against is as JSON.
type benchRows struct {
	Workload bench.Workload `json:"workload"`
	Rows     []bench.Row    `json:"rows"`
	// Connections that carried it: those of rank 0, for each number of ranks.
	Connections []bench.Connection `json:"connections"`
}

// direct does the part of one of the ranks. A signal ends it as any other rank, and its launcher says so.
func (r *benchRun) direct(ctx context.Context, cmd *cobra.Command, cells []bench.Cell) error {
	// How many ranks there are says the launcher.
	cells = slices.DeleteFunc(slices.Clone(cells), func(c bench.Cell) bool { return c.Processes() != cells[0].Processes() })
	d := &bench.Direct{Cells: cells, Iters: r.iters, Warmup: r.warmup}
	out := cmd.OutOrStdout()
	rows := []bench.Row{}
	return strand.Run(ctx, func(ctx context.Context, w *strand.World) (err error) {
		stop, err := profile(r.profile, w.Rank())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		report := func(row bench.Row) error { return d.WriteRow(out, row) }
		switch {
		case w.Rank() != 0:
		case r.json:
			report = func(row bench.Row) error { rows = append(rows, row); return nil }
		default:
			if err := d.WriteHead(out, w.Size()); err != nil {
				return err
			}
		}
		err = d.Run(ctx, w, report)
		if err == nil && w.Rank() == 0 {
			if r.json {
				err = writeJSON(out, benchRows{r.workload, rows, bench.Connections(w)})
			} else {
				err = bench.WriteFoot(out, w)
			}
		}
		if err != nil {
			return err
		}
		return w.Comm().Barrier(ctx) // before that nobody leaves: the foot tells of connections that are up
	}, strand.WithSettings(r.settings...))
}

func (r *benchRun) compare(ctx context.Context, cmd *cobra.Command, cells []bench.Cell) error {
	params, err := resolve(r.settings)
	if err != nil {
		return err
	}
	if err := bench.CheckRoom(cells, 1+len(r.against)); err != nil {
		return usageError{err}
	}
	self, err := executable()
	if err != nil {
		return err
	}
	transports, memory, err := r.transports(params)
	if err != nil {
		return err
	}
	dir, err := bench.NewFolder()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx, dir)
	defer stop()
	bar := newProgress(cmd.ErrOrStderr())
	result, err := bench.Compare(ctx, bench.Comparison{
		Setup: bench.Setup{
			Against: r.against, Settings: r.settings, Memory: memory, Params: params,
			Program: self, Arguments: []string{"bench", "member"}, Dir: dir,
		},
		Cells: cells, Iters: r.iters, Warmup: r.warmup, Blocks: r.blocks, Timeout: r.timeout,
		Transports: transports, Progress: bar.update,
	})
	bar.finish()
	if signal, interrupted := errors.AsType[interruptError](context.Cause(ctx)); interrupted && err != nil {
		return signal // the processes that it has ended say other things
	}
	if err != nil {
		return err
	}
	if r.json {
		err = writeJSON(cmd.OutOrStdout(), result)
	} else {
		err = result.WriteTable(cmd.OutOrStdout())
	}
	if err == nil && result.Valid != nil && !*result.Valid {
		return fmt.Errorf("the run is INVALID: %s; try again when the machine is quiet, or with more --blocks", strings.Join(result.Problems, "; "))
	}
	return err
}

// transports returns the transports that Strand may use in a comparison, and whether they
// include shared memory. Raw sockets have no shared memory: beside them, where the user
// has chosen no transport, it sets btl to tcp,self.
func (r *benchRun) transports(params *param.Values) (list string, memory bool, err error) {
	v := params.Value("btl")
	if v.Source.Kind == param.Default && (slices.Contains(r.against, "raw") || slices.Contains(r.against, "raw-udp")) {
		s := param.Setting{Name: "btl", Text: "tcp,self", Source: param.Source{Kind: param.Flag, Where: "--against"}}
		r.settings = append(r.settings, s)
		return s.Text, false, nil
	}
	l, err := selection.Parse(v.Text, v.Source)
	return v.Text, l.Allows("sm"), err
}

// resolve returns the parameters that a world started now would have. Its error is a mistake in
// them.
func resolve(settings []param.Setting) (*param.Values, error) {
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	values, err := registry.Resolve(param.Inputs{Settings: settings, Environ: os.Environ(), Optional: param.DefaultFiles()})
	if err != nil {
		return nil, usageError{err}
	}
	return values, nil
}

func commandContext(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
