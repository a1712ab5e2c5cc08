package topology

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// maxFile bounds a description, in bytes.
const maxFile = 1 << 20

// Load reads a file.
func Load(name string) (*Topology, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	t, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Parse reads a description.
func Parse(text []byte) (*Topology, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("a description of a network has at most %d bytes", maxFile)
	}
	var document, next yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch err := documents.Decode(&next); {
	case err == nil:
		return nil, fmt.Errorf("line %d: a second document begins: want one network a file", next.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("it is empty; want at least hosts: [a, b]")
	}
	r := reader{t: &Topology{MTU: emulate.DefaultMTU}}
	if err := r.file(document.Content[0]); err != nil {
		return nil, err
	}
	return r.t, nil
}

// A reader reads a description. What concerns only some hosts or ways is read last, when all that
// concerns every host is known.
type reader struct {
	t    *Topology
	all  parts // what is said of all networks
	nets *yaml.Node
}

// parts are what may be said of a network, and of all.
type parts struct {
	nic  emulate.NIC
	path emulate.Path
	each *yaml.Node
	ways []*yaml.Node
	down emulate.Schedule
}

// fields are those of the file, or of one network.
func (p *parts) fields(more fields) fields {
	more["each"] = func(n *yaml.Node) error { p.each = n; return nil }
	more["between"] = func(n *yaml.Node) error {
		p.ways = nil
		return list(n, func(way *yaml.Node) error { p.ways = append(p.ways, way); return nil })
	}
	more["down"] = func(n *yaml.Node) error {
		p.down.Outages = nil
		return list(n, func(one *yaml.Node) error {
			var o emulate.Outage
			err := fields{"at": value(&o.At, moment), "for": value(&o.For, moment)}.read(one)
			p.down.Outages = append(p.down.Outages, o)
			return err
		})
	}
	more["every"] = value(&p.down.Every, moment)
	addNIC(more, &p.nic)
	addPath(more, &p.path)
	return more
}

// check looks at what fits together only as a whole.
func (p *parts) check(n *yaml.Node) error {
	if err := errors.Join(p.nic.Check(), p.path.Check(), p.down.Check()); err != nil {
		return at(n, err)
	}
	return nil
}

func (r *reader) file(n *yaml.Node) error {
	err := r.all.fields(fields{
		"hosts":    r.hosts,
		"mtu":      value(&r.t.MTU, mtu),
		"seed":     value(&r.t.Seed, whole),
		"networks": func(n *yaml.Node) error { r.nets = n; return nil },
	}).read(n)
	if err == nil {
		err = r.all.check(n)
	}
	if err != nil {
		return err
	}
	if len(r.t.Hosts) == 0 {
		return errors.New("hosts: want their names, such as [a, b], or their number")
	}
	if r.nets == nil {
		return r.network("", r.all, nil)
	}
	return r.networks()
}

// plainName is what may be a network's name, which is a part of names of variables and of flags, and a host's everywhere: RFC 1123, and short. It
// is compiled when it is needed: most that the command does needs none.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$`) })

// CheckNetworkName says what a network may be called.
func CheckNetworkName(name string) error {
	if !plainName().MatchString(name) {
		return fmt.Errorf("%q: want letters, digits and dashes, at most 32", name)
	}
	return nil
}

// MaxNetworks bounds how many networks there can be between hosts.
const MaxNetworks = 16

// networks reads those that are named.
func (r *reader) networks() error {
	n := meant(r.nets)
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return at(n, errors.New("want names of networks and what each is like, such as {fast: {rate: 1gbit}, slow: {rate: 100mbit}}"), "networks")
	}
	if count := len(n.Content) / 2; count > MaxNetworks {
		return at(n, fmt.Errorf("%d of them: want at most %d", count, MaxNetworks), "networks")
	}
	all := fields{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := CheckNetworkName(key.Value); err != nil {
			return at(key, err, "networks")
		}
		all[key.Value] = func(one *yaml.Node) error {
			own, on := r.all, []int(nil)
			if isEmpty(one) {
				return r.network(key.Value, own, nil)
			}
			err := own.fields(fields{"hosts": func(n *yaml.Node) (err error) { on, err = r.some(n); return err }}).read(one)
			if err == nil {
				err = own.check(one)
			}
			if err != nil {
				return err
			}
			return r.network(key.Value, own, on)
		}
	}
	if err := all.read(n); err != nil {
		return at(n, err, "networks")
	}
	return nil
}

// isEmpty reports that nothing is said of a network, so that it is as all networks are.
func isEmpty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// some reads hosts that there are, each once.
func (r *reader) some(n *yaml.Node) (on []int, err error) {
	err = list(n, func(one *yaml.Node) error {
		host, err := r.t.host(one.Value)
		if err == nil && slices.Contains(on, host) {
			err = fmt.Errorf("%q is named twice", one.Value)
		}
		on = append(on, host)
		return err
	})
	if err == nil && len(on) == 0 {
		err = fmt.Errorf("want some of %v, or none of this line for all", r.t.Hosts)
	}
	slices.Sort(on)
	return on, err
}

// network completes one, on all hosts if it is not said on which.
func (r *reader) network(name string, p parts, on []int) error {
	n := &Network{Name: name, On: on, Down: p.down}
	for i := range r.t.Hosts {
		if on == nil {
			n.On = append(n.On, i)
		}
		n.NICs = append(n.NICs, p.nic)
		for range r.t.Hosts {
			n.paths = append(n.paths, p.path)
		}
	}
	r.t.Networks = append(r.t.Networks, n)
	if err := r.eachHost(n, p.each); err != nil {
		return err
	}
	for _, way := range p.ways {
		if err := r.way(n, way); err != nil {
			return at(way, err, "between")
		}
	}
	return nil
}

func moment(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q: want a time with its unit, such as 500ms or 2s", text)
	}
	return d, nil
}

// addNIC adds what a host may have.
func addNIC(to fields, n *emulate.NIC) {
	to["rate"] = value(&n.Rate, emulate.ParseRate)
	to["queue"] = value(&n.Queue, emulate.ParseQueue)
}

// addPath adds what a way may have.
func addPath(to fields, p *emulate.Path) {
	to["delay"] = value(&p.Delay, delay)
	to["jitter"] = value(&p.Jitter, delay)
	to["loss"] = value(&p.Loss, emulate.ParseLoss)
	to["reorder"] = value(&p.Reorder, emulate.ParseShare)
	to["reorder_by"] = value(&p.ReorderBy, delay)
	to["duplicate"] = value(&p.Duplicate, emulate.ParseShare)
	to["corrupt"] = value(&p.Corrupt, emulate.ParseShare)
}

func whole(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a whole number of 0 to 2^64-1", text)
	}
	return n, nil
}

func mtu(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < emulate.MinMTU || n > emulate.MaxMTU {
		return 0, fmt.Errorf("%q: want %d to %d bytes", text, emulate.MinMTU, emulate.MaxMTU)
	}
	return n, nil
}

func truth(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("%q: want true or false", text)
	}
	return text == "true", nil
}

func delay(text string) (time.Duration, error) {
	d, err := emulate.ParseDelay(text)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", text, err)
	}
	return d, nil
}

// hosts reads names, or a number.
func (r *reader) hosts(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		var count int
		if err := value(&count, strconv.Atoi)(n); err != nil || count < 1 || count > emulate.MaxHosts {
			return fmt.Errorf("%q: want their names, such as [a, b], or their number, 1 to %d", n.Value, emulate.MaxHosts)
		}
		for i := range count {
			r.t.Hosts = append(r.t.Hosts, fmt.Sprintf("host%d", i))
		}
		return nil
	}
	if len(n.Content) > emulate.MaxHosts {
		return fmt.Errorf("%d of them: want at most %d", len(n.Content), emulate.MaxHosts)
	}
	return list(n, func(one *yaml.Node) error {
		if one.Kind != yaml.ScalarNode || !plainName().MatchString(one.Value) {
			return fmt.Errorf("%q: want letters, digits and dashes, at most 32", one.Value)
		}
		if _, err := r.t.host(one.Value); err == nil {
			return fmt.Errorf("%q is named twice", one.Value)
		}
		r.t.Hosts = append(r.t.Hosts, one.Value)
		return nil
	})
}

// eachHost reads what hosts have of their own on a network.
func (r *reader) eachHost(net *Network, each *yaml.Node) error {
	if each == nil {
		return nil
	}
	all := fields{}
	for i, name := range r.t.Hosts {
		own := fields{}
		addNIC(own, &net.NICs[i])
		all[name] = func(n *yaml.Node) error {
			if err := own.read(n); err != nil {
				return err
			}
			return net.NICs[i].Check()
		}
	}
	if err := all.read(each); err != nil {
		return at(each, err, "each")
	}
	return nil
}

// way reads what one way, or one way and its way back, has of its own.
func (r *reader) way(net *Network, n *yaml.Node) error {
	var ends []int
	oneWay := false
	own := fields{
		"oneway": value(&oneWay, truth),
		"hosts": func(n *yaml.Node) error {
			return list(n, func(one *yaml.Node) error {
				host, err := r.t.host(one.Value)
				ends = append(ends, host)
				return err
			})
		},
	}
	addPath(own, new(emulate.Path)) // what it has is looked at once its hosts are known
	if err := own.read(n); err != nil {
		return err
	}
	if len(ends) != 2 || ends[0] == ends[1] {
		return errors.New("want two hosts, such as hosts: [a, b]")
	}
	for _, way := range [][2]int{{ends[0], ends[1]}, {ends[1], ends[0]}} {
		path := &net.paths[way[0]*len(r.t.Hosts)+way[1]]
		addPath(own, path)
		own["hosts"] = func(*yaml.Node) error { return nil }
		err := own.read(n)
		if err == nil {
			err = path.Check()
		}
		if err != nil || oneWay {
			return err
		}
	}
	return nil
}
