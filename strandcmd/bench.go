package strandcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/bench"
	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/selection"
)

const benchLong = `Measures messages between two ranks.

Started alone, the command starts two ranks of itself on this host. Under a
launcher it is the two ranks: strand run -n 2 strand bench pingpong, or
mpiexec -hosts a,b -n 2 strand bench pingpong to measure between hosts.

With --against it measures Strand and others in the same run, on this host, in
short blocks that alternate, and prints the lower quartile of each, the median
and the ratio: raw is two spinning sockets, without headers or matching, that
nothing can beat over TCP; pion is pion/sctp alone over UDP, with the packets and
buffers that --btl sctp would take; openmpi and mpich are those of this host. All are kept
to TCP (Strand by --btl tcp,self) unless --btl allows Strand shared memory: with
--btl sm,self openmpi and mpich use what they use by themselves. Absolute
times tell little on a machine that does other things too; ratios do.`

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
	{bench.Stream, "How many bytes a second, in windows of messages",
		`  strand bench stream --sizes 64K:4M
  strand bench stream --sizes 1M --window 16 --against raw`},
	{bench.Rate, "How many messages a second, in windows of messages",
		`  strand bench rate
  strand bench rate --sizes 8,64 --window 64 --against openmpi`},
	{bench.Burst, "How many bytes a second, in windows after computing",
		`  strand bench burst --pause 20ms
  strand bench burst --pause 1ms --window 16 --sizes 64K,256K --against openmpi`},
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
	cmd.AddCommand(newBenchMemberCommand())
	return cmd
}

// newBenchMemberCommand is the hidden command as which strand bench --against starts each
// process of a pair.
func newBenchMemberCommand() *cobra.Command {
	return &cobra.Command{
		Use: "member spec", Short: "One process of a pair that is measured", Hidden: true,
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
	window   int
	pause    time.Duration
	blocks   int
	against  []string
	settings []param.Setting
	json     bool
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
	run.window = 1
	switch w {
	case bench.PingPong:
	case bench.Burst:
		flags.IntVar(&run.window, "window", 16, "messages that are sent for each answer")
		flags.DurationVar(&run.pause, "pause", 20*time.Millisecond, "how long both ranks compute before each window, 0s to "+bench.MaxPause.String())
	default:
		flags.IntVar(&run.window, "window", 64, "messages that are sent for each answer")
	}
	flags.StringSliceVar(&run.against, "against", nil, "compare with raw, pion, openmpi, mpich: one or more, separated by commas")
	flags.IntVar(&run.blocks, "blocks", 48, "alternating blocks of each, with --against")
	flags.BoolVar(&run.json, "json", false, "write JSON")
	addSettingFlags(flags, &run.settings)
	return cmd
}

func (r *benchRun) run(cmd *cobra.Command) error {
	sizes, err := r.checked()
	if err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(commandContext(cmd), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	launched, err := bench.Launched(ctx)
	switch {
	case err != nil:
		return err
	case launched && len(r.against) > 0:
		return usageError{errors.New("--against starts all it measures itself: call strand bench without a launcher")}
	case launched:
		return r.direct(ctx, cmd, sizes)
	case len(r.against) > 0:
		return r.compare(ctx, cmd, sizes)
	}
	return r.startTwo(cmd)
}

// checked returns the sizes, and what is wrong with the flags.
func (r *benchRun) checked() ([]int, error) {
	switch {
	case r.iters < 0:
		return nil, fmt.Errorf("--iters %d: want 1 or more, or 0 to choose by size", r.iters)
	case r.window < 1 || r.window > bench.MaxWindow:
		return nil, fmt.Errorf("--window %d: want 1 to %d messages", r.window, bench.MaxWindow)
	case r.pause < 0 || r.pause > bench.MaxPause:
		return nil, fmt.Errorf("--pause %v: want 0s to %v", r.pause, bench.MaxPause)
	}
	for _, name := range r.against {
		if !slices.Contains(bench.Peers(), name) {
			return nil, fmt.Errorf("--against %q: want one or more of %s, separated by commas", name, strings.Join(bench.Peers(), ", "))
		}
	}
	if len(r.against) > 0 && r.blocks < bench.MinBlocks {
		return nil, fmt.Errorf("--blocks %d: want at least %d, better 20: the result is their lower quartile", r.blocks, bench.MinBlocks)
	}
	if r.sizes == "" {
		return r.workload.DefaultSizes(len(r.against) > 0), nil
	}
	return bench.ParseSizes(r.sizes)
}

// startTwo starts this very command as a job of two ranks.
func (r *benchRun) startTwo(cmd *cobra.Command) error {
	if _, err := resolve(r.settings); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	signals, stop := forwarded()
	defer stop()
	return local.Run(commandContext(cmd), local.Config{
		Ranks: 2, Program: self, Args: os.Args[1:],
		Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
		Signals: signals, Suspend: suspend,
	})
}

// direct does the part of one of the two ranks.
func (r *benchRun) direct(ctx context.Context, cmd *cobra.Command, sizes []int) error {
	d := &bench.Direct{Workload: r.workload, Sizes: sizes, Iters: r.iters, Warmup: r.warmup, Window: r.window, Pause: r.pause}
	out := cmd.OutOrStdout()
	rows := []bench.Row{}
	return strand.Run(ctx, func(ctx context.Context, w *strand.World) error {
		report := func(row bench.Row) error { return d.WriteRow(out, row) }
		switch {
		case w.Rank() != 0:
		case r.json:
			report = func(row bench.Row) error { rows = append(rows, row); return nil }
		default:
			if err := d.WriteHead(out); err != nil {
				return err
			}
		}
		err := d.Run(ctx, w, report)
		switch {
		case err != nil || w.Rank() != 0:
			return err
		case !r.json:
			return bench.WriteFoot(out, w)
		}
		return writeJSON(out, map[string]any{"workload": r.workload, "window": r.window, "rows": rows})
	}, strand.WithSettings(r.settings...))
}

func (r *benchRun) compare(ctx context.Context, cmd *cobra.Command, sizes []int) error {
	params, err := resolve(r.settings)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	transports, memory, err := r.transports(params)
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	result, err := bench.Compare(ctx, bench.Comparison{
		Workload: r.workload, Sizes: sizes, Iters: r.iters, Warmup: r.warmup, Window: r.window, Pause: r.pause,
		Blocks: r.blocks, Against: r.against, Settings: r.settings, Params: params,
		Transports: transports, Memory: memory,
		Program: self, Arguments: []string{"bench", "member"}, Progress: bar.update,
	})
	bar.finish()
	if err != nil {
		return err
	}
	if r.json {
		err = writeJSON(cmd.OutOrStdout(), result)
	} else {
		err = result.WriteTable(cmd.OutOrStdout())
	}
	if err == nil && result.Valid != nil && !*result.Valid {
		return errors.New("the run is INVALID: raw was not steady; try again when the machine is quiet, or with more --blocks")
	}
	return err
}

// transports returns the transports that Strand may use in a comparison, and whether they
// include shared memory. Raw sockets have no shared memory: where the user has chosen no
// transport it sets btl to tcp,self.
func (r *benchRun) transports(params *param.Values) (list string, memory bool, err error) {
	v := params.Value("btl")
	if v.Source.Kind == param.Default {
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
