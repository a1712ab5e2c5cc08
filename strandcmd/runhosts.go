package strandcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/machine"
)

// hostPatience is how long a remote shell may take to start strand, unless --host-timeout is longer.
const hostPatience = 20 * time.Second

// runHosts are the flags of strand run that are about other hosts.
type runHosts struct {
	hosts             []string
	file              string
	mapBy             string
	rsh, strand, wdir string
	push              bool
	timeout           time.Duration
}

// mappings are the values of --map-by.
var mappings = []string{"slot", "node"}

// ofRunHosts are the flags that have no effect without hosts.
var ofRunHosts = []string{"map-by", "rsh", "host-strand", "wdir", "push", "host-timeout"}

func (h *runHosts) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&h.hosts, "host", nil, "run on these `hosts`, each with as many ranks as its number says: a:4,b:4")
	flags.StringVar(&h.file, "hostfile", "", "run on the hosts of this `file`: a line each, as a:4 or a slots=4")
	flags.StringVar(&h.mapBy, "map-by", "slot", "fill one host after the other (slot), or give them ranks in turn (node)")
	flags.StringVar(&h.rsh, "rsh", remote.DefaultShell, "how to get to a host: a `command` that takes its name and a command line; {host} and {command} in it stand for these")
	flags.StringVar(&h.strand, "host-strand", "", "the `path` of strand on the hosts (default this one's)")
	flags.StringVar(&h.wdir, "wdir", "", "the working `directory` on the hosts (default this one)")
	flags.DurationVar(&h.timeout, "host-timeout", remote.DefaultTimeout,
		"ranks of a host that is not heard of for this `time` are lost; they end after three times as long, or when this command is stopped (SIGSTOP) for that; a host that takes more than 20s to start strand needs as much")
	flags.BoolVar(&h.push, "push", false, "bring the program, and strand, to the hosts for this job")
}

// place puts the job on hosts, if there are any. The number of ranks is that of the slots unless
// it is given.
func (h *runHosts) place(c *job.Config, flags *pflag.FlagSet) error {
	places, err := h.places()
	if err != nil {
		return err
	}
	if len(places) == 0 {
		for _, name := range ofRunHosts {
			if flags.Changed(name) {
				return fmt.Errorf("--%s means something with --host or --hostfile only", name)
			}
		}
		return nil
	}
	if !flags.Changed("n") {
		if c.Ranks = allSlots(places); c.Ranks == 0 {
			return errors.New("how many ranks? give -n, or each host a number: --host a:4,b:4")
		}
	}
	if c.Ranks < 1 || c.Ranks > job.MaxRanks {
		return nil // as the job says
	}
	if !slices.Contains(mappings, h.mapBy) {
		return fmt.Errorf("--map-by %s: want slot or node", h.mapBy)
	}
	ranks, err := spread(c.Ranks, places, h.mapBy == "node")
	if err != nil {
		return err
	}
	for i, p := range places {
		if len(ranks[i]) == 0 {
			continue
		}
		host, err := h.host(p.host)
		if err != nil {
			return err
		}
		c.Elsewhere = append(c.Elsewhere, job.Share{Host: host, Ranks: ranks[i]})
	}
	c.Build, c.Push, c.Dir, c.HostTimeout = buildName(buildInfo()), h.push, h.wdir, h.timeout
	if c.Dir == "" {
		c.Dir, err = os.Getwd()
	}
	return err
}

func (h *runHosts) places() ([]place, error) {
	if len(h.hosts) > 0 && h.file != "" {
		return nil, errors.New("--host and --hostfile: want one of them")
	}
	if h.file != "" {
		places, err := readHostfile(h.file)
		if err != nil {
			err = fmt.Errorf("--hostfile: %w", err)
		}
		return places, err
	}
	places, err := parsePlaces(h.hosts)
	if err != nil {
		err = fmt.Errorf("--host: %w", err)
	}
	return places, err
}

// host returns how to get to a host.
func (h *runHosts) host(name string) (remote.Host, error) {
	there, err := h.strand, error(nil)
	if there == "" {
		if there, err = executable(); err != nil {
			return remote.Host{}, fmt.Errorf("--host-strand: where this program is can not be found out: %w", err)
		}
	}
	host := remote.Host{Name: name, Program: there, Carry: h.push, Carriable: true, Patience: max(hostPatience, h.timeout)}
	if !isThisHost(name) || h.rsh != remote.DefaultShell {
		if host.Shell, err = shellWords(h.rsh); err != nil {
			return remote.Host{}, err
		}
	}
	return host, nil
}

// isThisHost reports whether a host needs no remote shell.
func isThisHost(name string) bool {
	own, err := os.Hostname()
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, name) || err == nil && name == own
}

// newElsewhereCommand is the hidden command that strand run and strand compare start on another host.
func newElsewhereCommand() *cobra.Command {
	var call remote.Call
	cmd := &cobra.Command{
		Use: remote.Arguments[0], Short: "Ranks on this host of a job that another host's strand runs", Hidden: true,
		Example: "  strand run --host node1:4,node2:4 ./program",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if call.Carried != "" && filepath.Dir(os.Args[0]) != filepath.Clean(call.Carried) {
				return fmt.Errorf("--carried %s: want the folder that this program was brought in, which is removed in the end; this is %s", call.Carried, os.Args[0])
			}
			if term.IsTerminal(int(os.Stdin.Fd())) { // in few words, as these come where an introduction was to
				return errors.New("want no terminal, which changes bytes: ssh -T")
			}
			i := remote.Introduction{Build: buildName(buildInfo()), Machine: machine.This()}
			return remote.Serve(commandContext(cmd), os.Stdin, os.Stdout, i, call)
		},
	}
	call.AddFlags(cmd.Flags())
	return cmd
}
