package strandcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/topology"
	"github.com/strandmp/strand/param"
)

const netUpLong = `Builds a network of emulated hosts as a file describes it, and runs a shell or a
command with it; the network lasts until that ends. It needs no rights but those to
namespaces, and leaves nothing behind. A command that Ctrl-Z stops goes on at once:
only a shell can stop what it has started.

The command is on none of the hosts. What it starts with "strand net exec" is, and
"strand run --net" puts each rank on a host of its own. Addresses are in its
environment: ADDR_a is that of host a. Hosts share all but network and name.

The file is YAML:

  hosts: [a, b, c]       # or their number
  rate: 1gbit            # of every host in each direction; else as fast as it can
  queue: 1000            # frames, or bytes: 256K
  delay: 5ms             # between any two hosts, one way; jitter: 1ms
  loss: 1%               # or 1%/4 for four frames in a row
  between:               # ways that differ, and in what
    - {hosts: [a, c], delay: 40ms}
    - {hosts: [c, a], loss: 5%, oneway: true}
  each:                  # hosts that differ
    c: {rate: 100mbit}
  seed: 1                # of all chances

Besides there are reorder, duplicate and corrupt (shares of frames), reorder_by and mtu.

Hosts may have several networks, an interface for each: eth0, eth1, … What is not said
of one is as above. ADDR_a_slow is the address of host a there; ADDR_a its first.

  networks:
    fast: {delay: 100us, hosts: [a, b]}   # of all hosts if it is not said of which
    slow:
      rate: 100mbit
      down: [{at: 2s, for: 1s}]   # nothing gets through: since the network's start,
      every: 10s                  # and again every 10 s; once if left out

down and every may stand above as well, for the one network, or for all.`

const netUpExample = `  strand net up topology.yaml
  strand net up topology.yaml strand run --net -n 3 ./program
  strand net up topology.yaml sh -c 'strand net exec a ping -c 3 $ADDR_c'`

// newNetCommand is for exploring and for scripts.
func newNetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "net", Short: "Build networks of emulated hosts to try programs on",
		Example: netUpExample,
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: suggestionDistance,
	}
	cmd.AddCommand(newNetUpCommand(), newNetExecCommand(), newNetDownCommand(), newNetShowCommand())
	return cmd
}

func newNetUpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "up file [command [argument...]]", Short: "Run a shell or a command with a network", Long: netUpLong, Example: netUpExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("want the file that describes the network")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := loadTwice(args[0])
			if err != nil {
				return usageError{err}
			}
			if _, inside := os.LookupEnv(netVariable); inside {
				return errors.New("there is a network already, which this shell or command was started with; end it first")
			}
			command := commandIn(args[1:])
			if len(command) == 0 {
				command = []string{shell()}
			}
			return netUp(cmd, t, command)
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SetInterspersed(false) // flags behind the file are the command's
	return cmd
}

// commandIn returns the command behind a first argument, without the -- that may lead it.
func commandIn(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

// loadTwice reads a description. The process that builds the network reads it again, so it
// refuses what can be read only once, such as a pipe.
func loadTwice(name string) (*topology.Topology, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is read twice, so it has to be a file", name)
	}
	t, err := topology.Load(name)
	if err == nil {
		err = checkVariables(t)
	}
	return t, err
}

// shell returns the path of the user's shell.
func shell() string {
	if s := os.Getenv("SHELL"); s != "" {
		return s
	}
	return "/bin/sh"
}

func newNetExecCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "exec host command [argument...]", Short: "Run a command on a host of the network",
		Example: "  strand net exec a ping -c 3 $ADDR_c\n  strand net exec b sh",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(commandIn(args[1:])) == 0 {
				return errors.New("want a host and a command")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := thisNet()
			if err != nil {
				return err
			}
			h, err := n.host(args[0])
			if err != nil {
				return usageError{err}
			}
			return netExec(h, commandIn(args[1:]))
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func newNetDownCommand() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "End the network, and the shell or command that it was built for",
		Example: "  strand net down", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			n, err := thisNet()
			if err != nil {
				return err
			}
			return n.end()
		},
	}
}

func newNetShowCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "show file", Short: "Show what a file describes",
		Example: "  strand net show topology.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want one file that describes a network")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := topology.Load(args[0])
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), asLists(t))
			}
			return showTopology(cmd.OutOrStdout(), t)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// netVariable has the description of the network for all processes that are started with it.
const netVariable = param.ReservedEnv + "NET"

// A netDescription is what netVariable has, in JSON.
type netDescription struct {
	Holder    int       `json:"holder"`    // the process that holds the network
	Processes string    `json:"processes"` // the PID namespace in which Holder is its number
	Hosts     []netHost `json:"hosts"`
}

// A netHost is one host of the network.
type netHost struct {
	Name     string       `json:"name"`
	Address  string       `json:"address"`            // its first address
	Networks []netAddress `json:"networks,omitempty"` // its addresses on networks that have names
	Prefix   []string     `json:"prefix"`             // the words before a command that run it there
}

// A netAddress is the address of a host on one of several networks.
type netAddress struct {
	Network string `json:"network"`
	Address string `json:"address"`
}

// addresses lists the host's addresses for people.
func (h netHost) addresses() string {
	var all []string
	for _, a := range h.Networks {
		all = append(all, a.Address+" on "+a.Network)
	}
	switch {
	case len(all) > 0:
		return strings.Join(all, ", ")
	case h.Address == "":
		return "on no network"
	}
	return h.Address
}

// thisNet is the network that this process was started with.
func thisNet() (n netDescription, err error) {
	text, inside := os.LookupEnv(netVariable)
	if !inside {
		return n, errors.New("there is no network here: strand net up topology.yaml starts a shell that has one")
	}
	if err := json.Unmarshal([]byte(text), &n); err != nil || !n.complete() {
		return n, fmt.Errorf("%s=%q: strand net up sets this for what it starts; unset it", netVariable, text)
	}
	return n, nil
}

func (n netDescription) complete() bool {
	return n.Holder > 0 && len(n.Hosts) > 0 && !slices.ContainsFunc(n.Hosts, func(h netHost) bool { return len(h.Prefix) == 0 })
}

func (n netDescription) host(name string) (netHost, error) {
	var names []string
	for _, h := range n.Hosts {
		if h.Name == name {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return netHost{}, fmt.Errorf("there is no host %q: want one of %s", name, strings.Join(names, ", "))
}

// environ returns the variables for processes that are started with the network.
func (n netDescription) environ() ([]string, error) {
	text, err := json.Marshal(n)
	environ := []string{netVariable + "=" + string(text)}
	for _, h := range n.Hosts {
		environ = append(environ, variableOf(h.Name)+"="+h.Address)
		for _, a := range h.Networks {
			environ = append(environ, variableOf(h.Name, a.Network)+"="+a.Address)
		}
	}
	return environ, err
}

// variableOf is the name of the variable that has the address of a host, or that on one of its networks.
func variableOf(hostAndNetwork ...string) string {
	return "ADDR_" + strings.ReplaceAll(strings.Join(hostAndNetwork, "_"), "-", "_")
}

// checkVariables refuses names by which two addresses would be in the same variable.
func checkVariables(t *topology.Topology) error {
	whose := map[string]string{}
	take := func(who string, hostAndNetwork ...string) error {
		name := variableOf(hostAndNetwork...)
		if other, taken := whose[name]; taken {
			return fmt.Errorf("the addresses of %s and of %s would both be in %s; give one of them another name", other, who, name)
		}
		whose[name] = who
		return nil
	}
	var errs []error
	for _, host := range t.Hosts {
		errs = append(errs, take(host, host))
	}
	for _, n := range t.Networks {
		for _, host := range n.On {
			if n.Name != "" {
				errs = append(errs, take(t.Hosts[host]+" on "+n.Name, t.Hosts[host], n.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// place returns, for each rank, the words that lead a command to its host, and the host's name.
// Each rank has a host to itself.
func (n netDescription) place(ranks int) (prefix func(int) []string, hostname func(int) string, err error) {
	if ranks > len(n.Hosts) {
		return nil, nil, fmt.Errorf("--net: %d ranks, and the network has %d hosts: each rank has one to itself", ranks, len(n.Hosts))
	}
	return func(rank int) []string { return n.Hosts[rank].Prefix }, func(rank int) string { return n.Hosts[rank].Name }, nil
}

// showTopology writes, for each network, a table of hosts and one of ways, the most common
// one first.
func showTopology(out io.Writer, t *topology.Topology) error {
	var b strings.Builder
	for _, n := range t.Networks {
		if n.Name != "" {
			fmt.Fprintf(&b, "network %s\n\n", n.Name)
		}
		showNetwork(&b, t, n)
	}
	fmt.Fprintf(&b, "MTU %d, seed %d\n", t.MTU, t.Seed)
	_, err := io.WriteString(out, b.String())
	return err
}

func showNetwork(b *strings.Builder, t *topology.Topology, n *topology.Network) {
	hosts, ways := [][]string{{"host", "rate", "queue"}}, [][]string{{"way", ""}}
	for _, i := range n.On {
		queue := "none" // nothing waits
		if n.NICs[i].Rate > 0 {
			queue = n.NICs[i].Queue.OrDefault().String()
		}
		hosts = append(hosts, []string{t.Hosts[i], n.NICs[i].Rate.String(), queue})
	}
	for _, w := range waysOf(t, n) {
		ways = append(ways, []string{w.between, w.path.String()})
	}
	fmt.Fprintf(b, "%s\n\n%s\n\n", strings.Join(align(hosts), "\n"), strings.Join(align(ways), "\n"))
	if text := downText(n.Down); text != "" {
		fmt.Fprintf(b, "down %s\n\n", text)
	}
}

// downText is a schedule in words.
func downText(s emulate.Schedule) string {
	var all []string
	for _, o := range s.Outages {
		all = append(all, fmt.Sprintf("at %v for %v", o.At, o.For))
	}
	if s.Every > 0 {
		all = append(all, fmt.Sprintf("again every %v", s.Every))
	}
	return strings.Join(all, ", ")
}

// A wayOf is a path and, in words, the hosts that it is between.
type wayOf struct {
	between string
	path    emulate.Path
}

// waysOf lists the paths between hosts: the most common one first, then each pair of hosts that
// has another.
func waysOf(t *topology.Topology, n *topology.Network) (ways []wayOf) {
	count := map[emulate.Path]int{}
	var common emulate.Path
	for _, from := range n.On {
		for _, to := range n.On {
			if p := n.Path(from, to); from != to {
				if count[p]++; count[p] > count[common] {
					common = p
				}
			}
		}
	}
	others := func(from, to int) (emulate.Path, bool) {
		p := n.Path(from, to)
		return p, from != to && p != common
	}
	for _, from := range n.On {
		for _, to := range n.On {
			a, b := t.Hosts[from], t.Hosts[to]
			p, differs := others(from, to)
			back, _ := others(to, from)
			switch {
			case !differs, p == back && from > to:
			case p == back:
				ways = append(ways, wayOf{a + " and " + b, p})
			default:
				ways = append(ways, wayOf{a + " to " + b, p})
			}
		}
	}
	name := "any to any"
	if len(ways) > 0 {
		name = "all others"
	}
	return slices.Insert(ways, 0, wayOf{name, common})
}

// A topologyList is the form that networks have in JSON.
type topologyList struct {
	MTU      int             `json:"mtu"`
	Seed     uint64          `json:"seed"`
	Networks []listedNetwork `json:"networks"`
}

type listedNetwork struct {
	Name  string           `json:"name,omitzero"` // "" if it has none
	Hosts []listedHost     `json:"hosts"`
	Ways  []listedWay      `json:"ways"`
	Down  emulate.Schedule `json:"down,omitzero"`
}

type listedHost struct {
	Name string `json:"name"`
	emulate.NIC
}

type listedWay struct {
	From string `json:"from"`
	To   string `json:"to"`
	emulate.Path
}

// asLists returns the networks with a way for every pair of hosts.
func asLists(t *topology.Topology) topologyList {
	l := topologyList{MTU: t.MTU, Seed: t.Seed}
	for _, n := range t.Networks {
		one := listedNetwork{Name: n.Name, Down: n.Down, Ways: []listedWay{}}
		for _, i := range n.On {
			nic := n.NICs[i]
			if nic.Rate > 0 { // else nothing waits
				nic.Queue = nic.Queue.OrDefault()
			}
			one.Hosts = append(one.Hosts, listedHost{t.Hosts[i], nic})
			for _, j := range n.On {
				if i != j {
					one.Ways = append(one.Ways, listedWay{t.Hosts[i], t.Hosts[j], n.Path(i, j)})
				}
			}
		}
		l.Networks = append(l.Networks, one)
	}
	return l
}
