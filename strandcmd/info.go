package strandcmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

const infoLong = `Shows what a program that is started here and now would work with: which
transports there are, which of them serve and why the others do not, and the
parameters that somebody has set, with where each value comes from; with --level or
--param the others too. It takes the same flags as strand run, and reads the same
variables and files.

Parameters have levels. user: needed to run a program. tuner: makes one faster on
this machine or that. developer: for work on Strand itself.

With --live it shows the jobs that this user has started by strand run on this host,
and is still running: each rank's connections, their state (CLOSED, CONNECTING,
CONNECT_ACK, CONNECTED or FAILED), addresses and what they have carried. A rank that is
stopped does not answer.

With --live --who-waits it shows why a job does not go on: what each rank waits for, in which
call and line of the program; receives and sends that have no match, messages that have no
receive. It names a cycle of waits, a receive beside which there is a message with another tag
or in another communicator, a wait for a rank that has ended, collective calls that not all make
or in another order, and a wait for any source when nobody is left to send. All ranks are asked
twice, 200 ms apart; what is named has waited all that time. A call whose context has a
deadline ends by itself: it is told how soon, and that this is no deadlock. What a
goroutine would send later that now computes, sleeps or waits at a channel is not known: that
there is one is told. What a timer would do (time.AfterFunc) is not seen. Nothing is recorded
before somebody asks.`

const infoExample = `  strand info
  strand info --level user
  strand info --param btl tcp --level tuner
  strand info --param btl_tcp_if_include
  strand info --param all --level developer
  strand info --btl ^self -p btl_tcp_if_include=127.0.0.0/8
  strand info --json
  strand info --live
  strand info --live --who-waits
  strand info --live strand_4f1c2a9be0d37765 --json`

// An infoRun is one use of strand info.
type infoRun struct {
	settings []param.Setting
	group    string // of parameters; "" shows everything there is
	level    levelFlag
	json     bool
	live     bool
	waits    bool
}

func newInfoCommand() *cobra.Command {
	run := &infoRun{}
	cmd := &cobra.Command{
		Use:     "info [flags]",
		Short:   "Show transports and parameters as a program here would find them",
		Long:    infoLong,
		Example: infoExample,
		Args: func(_ *cobra.Command, args []string) error {
			if run.live && len(args) <= 1 {
				return nil // the name of a job
			}
			if len(args) > 1 || len(args) == 1 && run.group == "" {
				return usageError{fmt.Errorf("unexpected argument %q: to see parameters of a transport, strand info --param btl tcp", args[len(args)-1])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if run.live && (run.group != "" || len(run.settings) > 0 || cmd.Flags().Changed("level")) {
				return usageError{errors.New("--live shows jobs that are running, whose parameters can not be set any more: leave out --param, --level and what sets one")}
			}
			if run.waits {
				if !run.live {
					return usageError{errors.New("--who-waits is about jobs that are running: strand info --live --who-waits")}
				}
				return run.showWaits(cmd.OutOrStdout(), strings.Join(args, ""))
			}
			if run.live {
				return run.showLive(cmd.OutOrStdout(), strings.Join(args, ""))
			}
			return run.run(cmd.OutOrStdout(), strings.Join(args, ""))
		},
		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	addSettingFlags(flags, &run.settings)
	// Open MPI's flag that shows parameters has the same name as the long form of -p, which sets
	// one. A = in the value tells them apart.
	p := flags.Lookup("param")
	p.Value = &showOrSet{pairFlag{&run.settings, "-p"}, &run.group}
	p.Usage = "show parameters only: of a group (btl), of a component (btl tcp), one (btl_tcp_sndbuf), or all; with =value, set one"
	flags.Var(&run.level, "level", "show parameters up to this level: user, tuner or developer")
	flags.BoolVar(&run.live, "live", false, "show the jobs of strand run that are running here, or the one named, with their connections")
	flags.BoolVar(&run.waits, "who-waits", false, "with --live: what each rank waits for, where, and why the job does not go on")
	flags.BoolVar(&run.json, "json", false, "write JSON")
	return cmd
}

// A showOrSet is the flag --param: name=value sets, a name alone shows.
type showOrSet struct {
	pairFlag
	group *string
}

func (f *showOrSet) Type() string { return "name[=value]" }

func (f *showOrSet) Set(text string) error {
	if strings.Contains(text, "=") {
		return f.pairFlag.Set(text)
	}
	*f.group = text
	return nil
}

// A levelFlag is a parameter level as a flag.
type levelFlag struct {
	param.Level
	given bool
}

func (f *levelFlag) Type() string { return "level" }

func (f *levelFlag) Set(text string) error {
	for l := param.User; l <= param.Developer; l++ {
		if text == l.String() {
			f.Level, f.given = l, true
			return nil
		}
	}
	return errors.New("want user, tuner or developer, such as --level tuner")
}

// information is all that strand info can tell.
type information struct {
	Version    string          `json:"version"`
	Components []componentInfo `json:"components,omitempty"`
	Parameters []parameterInfo `json:"parameters"`
	Hidden     int             `json:"parameters_of_higher_levels"`

	brief bool // only what somebody has set
}

func (r *infoRun) run(out io.Writer, component string) error {
	values, err := resolve(r.settings)
	if err != nil {
		return err
	}
	build, _ := debug.ReadBuildInfo()
	info := information{Version: versionLine(build), Parameters: []parameterInfo{}, brief: r.group == "" && !r.level.given && !r.json}
	if r.group == "" {
		if info.Components, err = components(values, btl.Default); err != nil {
			return usageError{err}
		}
	}
	chosen, err := chooseParameters(values.All(), r.group, component)
	if err != nil {
		return usageError{err}
	}
	single := len(chosen) == 1 // asked for by its name: shown whatever its level
	for _, v := range chosen {
		if info.brief && v.Source.Kind != param.Default || !info.brief && v.Spec.Level <= r.level.Level || single {
			info.Parameters = append(info.Parameters, describe(v))
		} else {
			info.Hidden++
		}
	}
	if r.json {
		return writeJSON(out, info)
	}
	return info.write(out, terminalWidth(os.Stdout))
}
