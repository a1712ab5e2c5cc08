package strandcmd

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/strandmp/strand/param"
)

// openMPI maps Open MPI's names of parameters to ours, where they differ or values are written
// otherwise. --mca understands them, so that old command lines go on working. translate is nil where a
// value is written in the same way.
var openMPI = map[string]struct {
	name      string
	translate func(string) (string, error)
}{
	"btl_base_verbose":       {"verbose", verbosity},
	"btl_tcp_disable_family": {"btl_tcp_disable_family", family},
	"btl_tcp_max_send_size":  {"btl_tcp_max_frag", nil},
	"btl_tcp_port_min_v4":    {"btl_tcp_port_min", nil},
	"btl_tcp_port_min_v6":    {"btl_tcp_port_min", nil},
	"btl_tcp_port_range_v4":  {"btl_tcp_port_range", nil},
	"btl_tcp_port_range_v6":  {"btl_tcp_port_range", nil},
	"btl_tcp_use_nagle":      {"btl_tcp_nodelay", negated},
	"btl_self_latency":       {"btl_self_latency", microseconds},
	"btl_sm_latency":         {"btl_sm_latency", microseconds},
	"btl_tcp_latency":        {"btl_tcp_latency", microseconds},
	// Until Open MPI 5 its shared memory was called vader.
	"btl_vader_eager_limit":           {"btl_sm_eager_limit", nil},
	"btl_vader_fbox_size":             {"btl_sm_fbox_size", nil},
	"btl_vader_latency":               {"btl_sm_latency", microseconds},
	"btl_vader_max_send_size":         {"btl_sm_max_send_size", nil},
	"btl_vader_single_copy_mechanism": {"btl_sm_single_copy_mechanism", nil},
}

// launcherFlags are flags of mpirun and mpiexec that strand run does not have, with what to do instead.
var launcherFlags = map[string]string{
	"allow-run-as-root": "the superuser may run jobs, leave it out",
	"enable-recovery":   goOn,
	"continuous":        goOn,
	"with-ft":           goOn,
	"get-stack-traces":  "--timeout alone says what each rank waits for, leave it out",
	"oversubscribe":     manyRanks,
	"use-hwthread-cpus": manyRanks,
	"c":                 "give -n",
	"x":                 "give --env",
	"genv":              "give --env",
	"genvall":           "the environment is passed on anyhow on this host, and to others by --env, leave it out",
	"N":                 perHost,
	"npernode":          perHost,
	"ppn":               perHost,
	"perhost":           perHost,
	"H":                 "give --host",
	"hosts":             "give --host",
	"f":                 "give --hostfile",
	"machinefile":       "give --hostfile",
	"bynode":            "give --map-by node",
	"rankfile":          "give --host and --map-by",
	"wd":                "give --wdir with --host, or change the directory before",
	"prefix":            "give --host-strand",
	"launcher":          "give --rsh",
	"gmca":              "give --mca",
	"tune":              "parameters of a file stand in strand.conf",
	"am":                "parameters of a file stand in strand.conf",
	"iface":             "give -p btl_tcp_if_include",
	"l":                 "give --tag-output",
	"prepend-rank":      "give --tag-output",
	"output-filename":   "give --tag-output, and > file behind all",
	"stdin":             "standard input goes to rank 0, leave it out",
	"display-map":       "give --verbose",
	"print-rank-map":    "give --verbose",
	"q":                 "nothing is told but errors, leave it out",
	"quiet":             "nothing is told but errors, leave it out",
	"V":                 "ask strand version",
	"version":           "ask strand version",
}

const (
	goOn      = "give --on-failure=continue"
	manyRanks = "a host may have more ranks than processors, leave it out"
	perHost   = "say how many with each host, --host a:4,b:4"
)

// withoutParameter are the beginnings of Open MPI's parameters for which there is none here, with what to do instead.
var withoutParameter = []struct{ prefix, instead string }{
	{"pml", oneLayer}, {"mtl", oneLayer}, {"osc", oneLayer},
	{"mpi_leave_pinned", "memory need not be pinned, leave it out"},
	{"mpi_preconnect_", "ranks connect when they first talk, leave it out or send a message to everybody"},
	{"btl_tcp_progress_thread", "messages go on while the program computes, leave it out"},
	{"btl_tcp_rndv_eager_limit", "the first piece of a longer message is as long as btl_tcp_eager_limit, leave it out"},
	{"btl_tcp_free_list_", "memory for frames is had as it is needed, leave it out"},
	{"reachable", "give btl_tcp_reach"},
	{"coll_tuned_", "give coll_allreduce and its kin"},
	{"plm_rsh_agent", "give --rsh"},
	{"rmaps_", "give --map-by"},
	{"hwloc_base_", "give --bind-to"},
	{"oob_", "the launcher opens no port, leave it out"},
	{"orte_", launcherHasFlags}, {"prte_", launcherHasFlags}, {"plm_", launcherHasFlags},
}

const (
	oneLayer         = "there is one message layer, leave it out"
	launcherHasFlags = "the launcher has flags alone, leave it out"
)

// instead says what to do instead of a parameter of Open MPI's; "" if it is none of those.
func instead(name string) string {
	for _, w := range withoutParameter {
		if name == w.prefix || strings.HasSuffix(w.prefix, "_") && strings.HasPrefix(name, w.prefix) {
			return w.instead
		}
	}
	return ""
}

// vader is Open MPI's older name of sm in a list of transports.
var vader = regexp.MustCompile(`\bvader\b`)

// verbosity translates a level. Open MPI tells of connections from about level 10 on, and of
// each step with 100.
func verbosity(text string) (string, error) {
	level, err := strconv.Atoi(text)
	switch {
	case err != nil || level < 0:
		return "", fmt.Errorf("btl_base_verbose: %q is not a number from 0 on", text)
	case level == 0:
		return "0", nil
	case level < 100:
		return "1", nil
	}
	return "2", nil
}

func negated(text string) (string, error) {
	switch strings.ToLower(text) {
	case "0", "false", "no", "disabled":
		return "true", nil
	case "1", "true", "yes", "enabled":
		return "false", nil
	}
	return "", fmt.Errorf("btl_tcp_use_nagle: %q is neither 0 nor 1", text)
}

// family translates the family that is not to be used, of which 0 is none.
func family(text string) (string, error) {
	if text == "0" {
		return "none", nil
	}
	return text, nil
}

// microseconds adds the unit, which Open MPI does without.
func microseconds(text string) (string, error) {
	if _, err := strconv.Atoi(text); err == nil {
		return text + "us", nil
	}
	return text, nil
}

// An mcaFlag sets the parameter that its value names, by our name or Open MPI's.
type mcaFlag struct{ settings *[]param.Setting }

func (f *mcaFlag) String() string { return "" }
func (f *mcaFlag) Type() string   { return "name=value" }

func (f *mcaFlag) Set(text string) error {
	const spelling = "--mca"
	if err := (&pairFlag{f.settings, spelling}).Set(text); err != nil {
		return err
	}
	s := &(*f.settings)[len(*f.settings)-1]
	if s.Name == "btl" {
		s.Text = vader.ReplaceAllString(s.Text, "sm")
		return nil
	}
	if remedy := instead(s.Name); remedy != "" {
		return errors.New(remedy)
	}
	theirs, found := openMPI[s.Name]
	if !found {
		return nil
	}
	if theirs.translate != nil {
		value, err := theirs.translate(s.Text)
		if err != nil {
			return err
		}
		s.Text = value
	}
	*s = flagSetting(theirs.name, s.Text, spelling+" "+s.Name)
	return nil
}
