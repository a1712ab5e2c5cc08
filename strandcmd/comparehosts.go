package strandcmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/strandmp/strand/internal/lab/compare"
	"github.com/strandmp/strand/internal/launcher/remote"
)

// ofEmulation are the flags that have no effect on a real network.
var ofEmulation = []string{"loss", "burst-loss", "delay", "rate", "jitter", "reorder", "reorder-by", "duplicate", "corrupt", "queue", "networks", "network", "emulation", "loopback"}

// ofHosts are the flags that have no effect without --host.
var ofHosts = []string{"rsh", "host-strand"}

// checkHosts refuses to run under a launcher, hosts that can not be used, and flags that would
// have no effect. Unless --ranks is given, it sets the number of ranks to that of the hosts.
func (f *compareFlags) checkHosts(flags *pflag.FlagSet) error {
	if err := refuseLauncher(); err != nil {
		return err
	}
	var given []string
	flags.Visit(func(f *pflag.Flag) { given = append(given, f.Name) })
	vain := func(names []string) string {
		var some []string
		for _, name := range given {
			if slices.Contains(names, name) {
				some = append(some, "--"+name)
			}
		}
		slices.Sort(some)
		return strings.Join(some, ", ")
	}
	if len(f.hosts) == 0 {
		if some := vain(ofHosts); some != "" {
			return fmt.Errorf("%s means something with --host only", some)
		}
		told := func(name string) bool { return name == "loopback" || name == "loss" } // a cell with loss says itself that it can not run
		if some := vain(slices.DeleteFunc(slices.Clone(ofEmulation), told)); some != "" && f.loopback {
			return fmt.Errorf("--loopback: nothing emulates %s there; leave out the one or the other", some)
		}
		return nil
	}
	if err := compare.CheckHosts(f.hosts); err != nil {
		return fmt.Errorf("--host: %w", err)
	}
	if some := vain(ofEmulation); some != "" {
		return fmt.Errorf("--host: the network is as it is, and nothing emulates %s; leave out the one or the other", some)
	}
	if _, err := shellWords(f.rsh); err != nil {
		return err
	}
	if !slices.Contains(given, "ranks") {
		f.ranks = len(f.hosts)
	}
	return nil
}

// refuseLauncher returns an error if a launcher has started this process: each rank of the job
// would do the whole comparison.
func refuseLauncher() error {
	for _, variable := range []string{"PMI_FD", "PMI_PORT"} {
		if _, launched := os.LookupEnv(variable); launched {
			return fmt.Errorf("started by a launcher (%s is set), which starts one world, while each run of a comparison is a world of its own: "+
				"start it once, by itself; strand compare --host node1 --host node2 uses the launcher's hosts, strand bench measures one transport under mpiexec", variable)
		}
	}
	return nil
}

// realNetwork returns the hosts. It is an error if one of them can not be reached.
func (f *compareFlags) realNetwork(ctx context.Context) (compare.Ground, error) {
	there := f.hostStrand
	if there == "" {
		var err error
		if there, err = executable(); err != nil {
			return nil, fmt.Errorf("--host-strand: where this program is can not be found out: %w", err)
		}
	}
	hosts := compare.Hosts{Build: buildName(buildInfo())}
	shell, err := shellWords(f.rsh)
	if err != nil {
		return nil, err
	}
	for _, name := range f.hosts {
		hosts.Hosts = append(hosts.Hosts, remote.Host{Name: name, Shell: shell, Program: there, Patience: hostPatience})
	}
	err = hosts.Reach(ctx) // which finds out what machines they are
	return hosts, err
}
