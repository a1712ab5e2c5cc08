package strandcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/launcher/live"
	"github.com/strandmp/strand/internal/launcher/local"
	"github.com/strandmp/strand/internal/trace"
	"github.com/strandmp/strand/param"
)

const runLong = `Starts the ranks of a program on this host, or on those of --host, and waits for them.

Flags end at the program's name; all that follows is the program's. Output is
passed on line by line (a line of more than 1 MB in parts), standard input goes to rank 0.

When a rank fails, that is, exits with a status other than 0, is killed, aborts
or leaves without closing its world, the whole job ends: the others get SIGTERM
and, after --grace, SIGKILL. The command names the rank that failed first and how
it ended, not those that failed because they missed it. With --on-failure=continue
the others go on: they are told at once, and their operations with that rank fail
with a *PeerFailedError. An abort ends the job in any case, and so does a program
that does not handle that error.

The exit status is 0 if all ranks succeeded, else that of the first that failed:
its own, or 128 and the number of the signal that killed it. 124: --timeout,
127: no such program, 126: it can not be run, 2: a mistake in the command line,
141: nobody reads its output any more (strand run … | head), which ends the job.

SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to all ranks; a
second SIGINT or SIGTERM kills them (two within a tenth of a second are one: timeout(1) sends two). Ctrl-Z stops the whole job, fg and bg have it go on.
What a rank leaves behind in its process group ends with it, and with this
command, whatever ends that. Ranks on other hosts that lose this command, or the remote
shell to it, get SIGTERM and, after --grace, SIGKILL.

When it hangs: Ctrl-\ (SIGQUIT) has this command say what each rank waits for, since when and in which
line of the program, and name a cycle of waits, a call that nothing can end, a wrong tag. Then the
signal is passed on, so that Go programs write the stacks of all goroutines and end. At the end
of --timeout it says the same before the job is ended. Ranks that do not answer, because they are
stopped, say, hold that up for two seconds at most. strand info --live --who-waits
asks a job that is to go on.

--trace out.json records what each rank does, message by message: when each was sent, over which
transport, when it found its receive, what was received, waits and collective calls, with arrows from
send to receive. Open the file at https://ui.perfetto.dev or in chrome://tracing. Each rank keeps
the last --trace-buffer bytes of it, in memory; the file is written when the job ends, however that
is. Clocks of several hosts are brought together by the messages between them, and it is said how well.

--verbose tells what the launcher does; --verbose btl=1, which is -p verbose=1, what
the ranks' transports do: every connection, and which way to a peer was chosen and
why. With btl=2 they tell each step.

--host a:4,b:4 starts ranks 0 to 3 on a and 4 to 7 on b, by one ssh for each host; a host without
a number takes as many as the others leave. Strand and the program must be there, at the same
paths, or --push brings both. Nothing listens anywhere for it: all that the ranks and this command
say to each other goes through ssh, which must get there without a question (a key, an agent).
The ranks get the environment of a shell there, STRAND_ variables, and those of --env. All else is
as on one host; a rank whose host can not be reached any more counts as failed. What connects a
host may be silent for --host-timeout. Ranks there end if they hear nothing of this command for
three times as long. Ctrl-Z tells them that it is stopped, SIGSTOP and a debugger do not.

Under MPICH's mpiexec or Slurm's srun --mpi=pmi2 the same program runs too; parameters are then
given by STRAND_ variables or a file.

Coming from Open MPI: --mca name value is -p name=value, -np is -n. Coming from
MPICH, -disable-auto-cleanup is --on-failure=continue. Coming from LA-MPI, these set the parameters on the right:
  -i eth0,eth1        btl_tcp_if_include
  -ni 2               btl_tcp_max_interfaces
  -tcpmaxfrag 64K     btl_tcp_max_frag
  -tcpeagersend 16K   btl_tcp_eager_limit
  -tcpconretries 3    btl_tcp_connect_retries`

const runExample = `  strand run -n 4 ./wordfreq
  strand run -n 4 --btl tcp,self --tag-output ./wordfreq -top 5 -dir /usr/share/doc
  strand run -n 2 -p btl_tcp_if_include=10.0.0.0/8 --timeout 5m ./program
  strand run -n 4 --timeout 1m --trace out.json.gz ./program
  strand run --host node1:4,node2:4 ./wordfreq
  strand run --hostfile hosts -n 64 --map-by node --push ./program
  strand run --host pod-0,pod-1 -n 2 --rsh 'kubectl exec -i {host} -- sh -c {command}' ./program
  strand run -n 2 --env GOMAXPROCS=1 --env HOME ./program <input >output`

// bindings are the values of --bind-to.
var bindings = []string{"none", "core"}

// validator checks parameters before anything is started.
type validator func(flags []param.Setting, environ []string) error

func newRunCommand(stdin *os.File, validate validator) *cobra.Command {
	config := job.Config{Stdin: stdin, Validate: validate}
	onNet, bindTo, hosts := false, "", runHosts{}
	cmd := &cobra.Command{
		Use:     "run -n N [flags] program [argument...]",
		Short:   "Start a program as N ranks, on this host or on several",
		Long:    runLong,
		Example: runExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errNoProgram}
			}
			if config.Verbose && isSetting(args[0]) {
				return usageError{fmt.Errorf("--verbose %[1]s: want --verbose alone, or --verbose btl=1 for what transports do, which is -p verbose=1; a program of this name is ./%[1]s", args[0])}
			}
			return oneProgram(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := hosts.place(&config, cmd.Flags()); err != nil {
				return usageError{err}
			}
			if config.Ranks == 0 && !cmd.Flags().Changed("n") {
				return usageError{errNoRanks}
			}
			if !slices.Contains(bindings, bindTo) {
				return usageError{fmt.Errorf("--bind-to %s: want none or core", bindTo)}
			}
			if cmd.Flags().Changed("trace-buffer") && config.Trace == "" {
				return usageError{errors.New("--trace-buffer means something with --trace only")}
			}
			config.Bind = bindTo == "core"
			config.Program, config.Args = args[0], args[1:]
			if onNet {
				n, err := thisNet()
				if err == nil && len(config.Elsewhere) > 0 {
					err = errors.New("--net and --host: want one of them")
				}
				if err == nil {
					config.Prefix, config.Hostname, err = n.place(config.Ranks)
				}
				if err != nil {
					return usageError{err}
				}
			}
			if config.Grace == 0 {
				config.Grace = 1 // practically at once; in a Config 0 is the default
			}
			config.Stdout, config.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			signals, stop := forwarded()
			defer stop()
			config.Signals, config.Suspend = signals, suspend
			if !onNet { // there this user may have another number, and the folder outlives the network
				config.LiveDir = live.Dir()
			}
			return job.Run(cmd.Context(), config)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files: the program and its arguments
		},
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags end at the program
	flags.SortFlags = false
	flags.IntVarP(&config.Ranks, "n", "n", 0, "number of ranks to start")
	flags.BoolVar(&onNet, "net", false, "put each rank on a host of the network (strand net up)")
	hosts.add(flags)
	flags.StringVar(&bindTo, "bind-to", "none", "bind each rank to a processor of its host, in turn (core), or leave them free (none)")
	addSettingFlags(flags, &config.Flags)
	flags.StringArrayVar(&config.Environ, "env", nil, "set a `NAME=VALUE` for the ranks, or demand that NAME is set")
	flags.BoolVar(&config.TagOutput, "tag-output", false, "start each line of output with its rank: [3]")
	flags.DurationVar(&config.Timeout, "timeout", 0, "end the job after this time, such as 90s or 5m; while Ctrl-Z stops it none passes")
	flags.StringVar(&config.Trace, "trace", "", "record what each rank does with its messages in this `file`, for ui.perfetto.dev; packed if it ends in .gz")
	flags.Var(&sizeFlag{&config.TraceBuffer}, "trace-buffer", "how much of that each rank keeps, 48 bytes an event: of more, the last; by default less where ranks are more than 8")
	flags.DurationVar(&config.Grace, "grace", job.DefaultGrace, "time between SIGTERM and SIGKILL for ranks that are ended")
	flags.Var(&failurePolicy{&config.KeepGoing}, "on-failure", "what becomes of the other ranks when one fails: kill or continue")
	flags.BoolVar(&config.KeepGoing, autoCleanup, false, "the same as --on-failure=continue")
	if err := flags.MarkHidden(autoCleanup); err != nil {
		panic(err) // it was declared the line before
	}
	flags.BoolVarP(&config.Verbose, "verbose", "v", false, "tell what the launcher does")
	return cmd
}

// A failurePolicy is the flag that says what becomes of the others when a rank
// fails.
type failurePolicy struct{ keepGoing *bool }

func (f *failurePolicy) Type() string { return "policy" }

func (f *failurePolicy) String() string {
	if f.keepGoing != nil && *f.keepGoing {
		return "continue"
	}
	return "kill"
}

func (f *failurePolicy) Set(text string) error {
	switch text {
	case "kill", "continue":
		*f.keepGoing = text == "continue"
		return nil
	}
	return errors.New("want kill or continue, such as --on-failure=continue")
}

// A sizeFlag is a number of bytes: 4M.
type sizeFlag struct{ bytes *int64 }

func (f *sizeFlag) Type() string { return "size" }

func (f *sizeFlag) String() string {
	if f.bytes == nil {
		return ""
	}
	return param.FormatSize(cmp.Or(*f.bytes, trace.DefaultSize))
}

func (f *sizeFlag) Set(text string) error {
	n, err := param.ParseSize(text)
	if err == nil && n == 0 { // which is what there is without the flag
		return fmt.Errorf("want %s or more", param.FormatSize(trace.MinSize))
	}
	*f.bytes = n
	return err
}

// forwarded returns the signals to pass on. What this process was told to
// ignore (nohup) stays ignored. Signals that come soon after stop end nothing either: who
// repeats Ctrl-C is to see what the job has ended with. Later they do, as that may be what nobody reads.
func forwarded() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 16)
	for _, s := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT,
	} {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	unread := writesFail()
	return c, func() { time.AfterFunc(local.LastWordsTime, func() { signal.Stop(c); unread() }) }
}

// writesFail has a write fail whose reader has gone away (strand run … | head). By default SIGPIPE would end
// this process: its ranks would be killed before they can save what they have, and no trace would be written.
func writesFail() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGPIPE)
	return func() { signal.Stop(c) }
}
