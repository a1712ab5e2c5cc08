package strandcmd

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/param"
)

// compareFlags are the values of the command's flags, as the user wrote them.
type compareFlags struct {
	btl, workloads                 string
	sizes, fanout, tasks, ordering string
	loss, delay, rate              string
	burstLoss                      float64
	jitter, reorderBy              time.Duration
	reorder, duplicate, corrupt    string
	queue                          string
	networks                       string
	network                        []string
	mtu, ranks, runs               int
	seed                           uint64
	emulation                      string
	congestion, buffers            string
	settings                       []param.Setting
	timeout                        time.Duration
	out                            string
	overwrite, json, markdown      bool
	loopback                       bool
	hosts                          []string
	rsh, hostStrand                string
	from, baseline                 string
	metrics                        []string
}

func (f *compareFlags) declare(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.btl, "btl", defaultTransports, "transports to compare, with `PARAMETERS` if wanted; each is compared with the first")
	flags.StringVar(&f.workloads, "workload", defaultWorkloads, "`WORKLOADS` to run, with parameters if wanted")
	flags.StringVar(&f.sizes, "sizes", "", "message sizes in bytes: `30000,300000`; K and M are 1024 and 1024²")
	flags.StringVar(&f.fanout, "fanout", "", "farm: tasks that one request brings, `1,10`")
	flags.StringVar(&f.tasks, "tasks", defaultTasks, "farm: `number` of tasks")
	flags.StringVar(&f.ordering, "ordering", "", "which message a receive for any tag takes: `strict,relaxed`")

	flags.StringVar(&f.loss, "loss", defaultLoss, "`percent` of frames that are lost; 1/4: in runs of 4 on the average")
	flags.Float64Var(&f.burstLoss, "burst-loss", 1, "mean number of frames that are lost in a row, where --loss does not say")
	flags.StringVar(&f.delay, "delay", defaultDelay, "`times` that a frame travels, one way")
	flags.StringVar(&f.rate, "rate", "1gbit", "`rates` at which a host sends and receives: 100mbit,1gbit, or unlimited")
	flags.DurationVar(&f.jitter, "jitter", 0, "largest random difference from --delay, up or down")
	flags.StringVar(&f.reorder, "reorder", "0", "`percent` of frames that are held back, so that others overtake them")
	flags.DurationVar(&f.reorderBy, "reorder-by", time.Millisecond, "how long --reorder holds a frame back")
	flags.StringVar(&f.duplicate, "duplicate", "0", "`percent` of frames that arrive twice")
	flags.StringVar(&f.corrupt, "corrupt", "0", "`percent` of frames with a flipped bit")
	flags.StringVar(&f.queue, "queue", "1000", "most `frames` that wait before a host's link; or bytes: 256K")
	flags.StringVar(&f.networks, "networks", "", "`numbers` of networks between the hosts: 1,2 (default as many as --network, or 1)")
	flags.StringArrayVar(&f.network, "network", nil, "what sets the next network apart from the other flags: a `NETWORK`, such as rate=100mbit,down=2s+1s")
	flags.IntVar(&f.mtu, "mtu", emulate.DefaultMTU, "longest frame in bytes, without its Ethernet header")

	flags.IntVar(&f.ranks, "ranks", defaultRanks, "ranks, each on a host of its own")
	flags.IntVar(&f.runs, "runs", defaultRuns, "runs of each transport in each cell")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "time limit of one run")
	flags.StringVar(&f.congestion, "congestion", "auto", "congestion control of all TCP sockets: cubic, reno, bbr, …; auto: cubic if it is allowed, else reno")
	flags.StringVar(&f.buffers, "buffers", "auto", "`size` of all send and receive buffers; auto: 4M, or less where the system allows less")
	flags.VarP(&pairFlag{&f.settings, "-p"}, "param", "p", "set a parameter for all transports; strand info lists the parameters")

	flags.StringVar(&f.out, "out", "", "`folder` for the results (default compare- and the time)")
	flags.StringVar(&f.from, "from", "", "measure nothing: draw the results of this `file`, results.json, again")
	flags.StringSliceVar(&f.metrics, "metric", nil, "compare by these `METRICS` of results.json (delay_p90, round_trip, …) in place of the usual one of a workload")
	flags.StringVar(&f.baseline, "baseline", "", "say what has changed since the results of this `file`")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace results that are there, or with --from the page beside them")
	flags.BoolVar(&f.json, "json", false, "write the results as JSON instead of tables")
	flags.BoolVar(&f.markdown, "markdown", false, "write tables and counters as Markdown, with the command and the machine")
	flags.StringVar(&f.emulation, "emulation", compare.Emulations[0], "who emulates the networks: netem, the kernel; user, this program; auto: netem where it can do all that is asked for")
	flags.BoolVar(&f.loopback, "loopback", false, "emulate nothing: use the loopback of this host")
	flags.StringArrayVar(&f.hosts, "host", nil, "emulate nothing: use the real network between this `host` and those of the other --host")
	flags.StringVar(&f.rsh, "rsh", remote.DefaultShell, "how to get to a --host: a `command` that takes a host's name and a command line")
	flags.StringVar(&f.hostStrand, "host-strand", "", "`path` of strand on each --host (default that of this one)")
}

// Defaults that give an answer within two minutes. The farm takes results in any order, as in
// the SCTP thesis: with strict ordering a tag's loss delays all tags.
const (
	defaultTransports = "tcp,udp,sctp"
	defaultWorkloads  = "farm(ordering=relaxed),hol(size=1000,interval=2ms,messages=400)"
	defaultTasks      = "200"
	defaultLoss       = "0,2"
	defaultDelay      = "5ms"
	defaultRanks      = 4
	defaultRuns       = 6
)
