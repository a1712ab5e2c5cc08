package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/topology"
	"github.com/strandmp/strand/param"
)

// MaxNetworks bounds how many networks there can be between hosts.
const MaxNetworks = topology.MaxNetworks

// A Net is one of several networks between the hosts. It has what differs from a cell's link.
type Net struct {
	Name string
	Down emulate.Schedule
	own  []func(*emulate.Link)
}

// on is the network in a cell with a link.
func (n Net) on(l emulate.Link) emulate.Network {
	for _, set := range n.own {
		set(&l)
	}
	return emulate.Network{Name: n.Name, Link: l, Down: n.Down}
}

// netName is the name of a network that nobody has named.
func netName(number int) string { return fmt.Sprintf("net%d", number) }

// setter reads a value of a link.
func setter[T any](parse func(string) (T, error), set func(*emulate.Link, T)) func(string) (func(*emulate.Link), error) {
	return func(text string) (func(*emulate.Link), error) {
		value, err := parse(text)
		return func(l *emulate.Link) { set(l, value) }, err
	}
}

// ofNetwork are what a network may have of its own, besides its name and its schedule.
var ofNetwork = map[string]func(string) (func(*emulate.Link), error){
	"rate":      setter(emulate.ParseRate, func(l *emulate.Link, v emulate.Rate) { l.Rate = v }),
	"queue":     setter(emulate.ParseQueue, func(l *emulate.Link, v emulate.Queue) { l.Queue = v }),
	"delay":     setter(emulate.ParseDelay, func(l *emulate.Link, v time.Duration) { l.Delay = v }),
	"jitter":    setter(emulate.ParseDelay, func(l *emulate.Link, v time.Duration) { l.Jitter = v }),
	"loss":      setter(emulate.ParseLoss, func(l *emulate.Link, v emulate.Loss) { l.Loss = v }),
	"reorder":   setter(emulate.ParseShare, func(l *emulate.Link, v float64) { l.Reorder = v }),
	"duplicate": setter(emulate.ParseShare, func(l *emulate.Link, v float64) { l.Duplicate = v }),
	"corrupt":   setter(emulate.ParseShare, func(l *emulate.Link, v float64) { l.Corrupt = v }),
}

// ParseNets reads networks, each as names and values: rate=100mbit,delay=5ms,down=2s+1s. What
// is not given is that of the cells' links.
func ParseNets(texts []string) ([]Net, error) {
	if len(texts) > MaxNetworks {
		return nil, fmt.Errorf("%d networks: want at most %d", len(texts), MaxNetworks)
	}
	var all []Net
	for i, text := range texts {
		n, err := parseNet(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if n.Name == "" {
			n.Name = netName(i)
		}
		if slices.ContainsFunc(all, func(o Net) bool { return o.Name == n.Name }) {
			return nil, fmt.Errorf("%s: there is a network %s already", text, n.Name)
		}
		all = append(all, n)
	}
	return all, nil
}

func parseNet(text string) (n Net, err error) {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, is := strings.Cut(strings.TrimSpace(pair), "=")
		if text == "" {
			return n, nil // as the cell has it
		}
		if !is || seen[name] {
			return n, fmt.Errorf("%q: want a name and a value, each name once, such as rate=100mbit", pair)
		}
		seen[name] = true
		switch set, known := ofNetwork[name]; {
		case known:
			var own func(*emulate.Link)
			if own, err = set(value); err == nil {
				n.own = append(n.own, own)
			}
		case name == "name":
			n.Name, err = value, topology.CheckNetworkName(value)
		case name == "down":
			n.Down, err = emulate.ParseSchedule(value)
		default:
			return n, unknownOfNetwork(name)
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
	return n, nil
}

func unknownOfNetwork(name string) error {
	names := append(slices.Sorted(maps.Keys(ofNetwork)), "down", "name")
	if near := param.Nearest(name, slices.Values(names)); near != "" {
		return fmt.Errorf("there is no %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no %q: want some of %s", name, strings.Join(names, ", "))
}

// networks returns the networks of a cell; nil in a plan where hosts have one link and nothing
// else.
func (p *Plan) networks(count int64, l emulate.Link) []emulate.Network {
	if len(p.Nets) == 0 && len(p.Counts) == 0 {
		return nil
	}
	var all []emulate.Network
	for i := range int(count) {
		n := Net{Name: netName(i)}
		if i < len(p.Nets) {
			n = p.Nets[i]
		}
		all = append(all, n.on(l))
	}
	return all
}

// counts are how many networks cells have.
func (p *Plan) counts() []int64 {
	if len(p.Counts) == 0 {
		return []int64{int64(max(1, len(p.Nets)))}
	}
	return p.Counts
}

// Wanted returns all that is to be emulated: the networks of each kind of cell.
func (p *Plan) Wanted() (all [][]emulate.Network) {
	for _, l := range p.Links {
		for _, count := range p.counts() {
			networks := p.networks(count, l)
			if networks == nil {
				networks = []emulate.Network{{Link: l}}
			}
			all = append(all, networks)
		}
	}
	return all
}

func (p *Plan) mostNetworks() int { return int(slices.Max(p.counts())) }

// checkNets refuses networks that can not be, or that no cell would have.
func (p *Plan) checkNets() error {
	for _, count := range p.counts() {
		if count < 1 || count > MaxNetworks {
			return fmt.Errorf("--networks %d: want 1 to %d", count, MaxNetworks)
		}
	}
	if most := p.mostNetworks(); most < len(p.Nets) {
		return fmt.Errorf("--networks: at most %d of them, and %d are described by --network: leave out the one or the other", most, len(p.Nets))
	}
	for _, networks := range p.Wanted() {
		for i, n := range networks {
			if slices.ContainsFunc(networks[:i], func(o emulate.Network) bool { return o.Name == n.Name }) {
				return fmt.Errorf("--network: there are two called %s; give another name", n.Name)
			}
			if err := checkLink(n.Link); err != nil {
				return fmt.Errorf("--network %s: %w", n.Name, err)
			}
		}
	}
	return nil
}
