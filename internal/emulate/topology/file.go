package topology

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/strandmp/strand/internal/emulate"
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
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
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

// A reader reads a description. What is about some hosts or ways only is read when what is
// about all of them is known.
type reader struct {
	t    *Topology
	nic  emulate.NIC
	path emulate.Path
	each *yaml.Node
	ways []*yaml.Node
}

func (r *reader) file(n *yaml.Node) error {
	all := fields{
		"hosts": r.hosts,
		"mtu":   value(&r.t.MTU, mtu),
		"seed":  value(&r.t.Seed, whole),
		"each":  func(n *yaml.Node) error { r.each = n; return nil },
		"between": func(n *yaml.Node) error {
			return list(n, func(way *yaml.Node) error { r.ways = append(r.ways, way); return nil })
		},
	}
	addNIC(all, &r.nic)
	addPath(all, &r.path)
	if err := all.read(n); err != nil {
		return err
	}
	if err := errors.Join(r.nic.Check(), r.path.Check()); err != nil {
		return at(n, err)
	}
	if len(r.t.Hosts) == 0 {
		return errors.New("hosts: want their names, such as [a, b], or their number")
	}
	for range r.t.Hosts {
		r.t.NICs = append(r.t.NICs, r.nic)
		for range r.t.Hosts {
			r.t.paths = append(r.t.paths, r.path)
		}
	}
	if err := r.eachHost(); err != nil {
		return err
	}
	for _, way := range r.ways {
		if err := r.way(way); err != nil {
			return at(way, err, "between")
		}
	}
	return nil
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

// hostName is what may be a host's name everywhere: RFC 1123, and short.
var hostName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?$`)

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
		if one.Kind != yaml.ScalarNode || !hostName.MatchString(one.Value) {
			return fmt.Errorf("%q: want letters, digits and dashes, at most 32", one.Value)
		}
		if _, err := r.t.host(one.Value); err == nil {
			return fmt.Errorf("%q is named twice", one.Value)
		}
		r.t.Hosts = append(r.t.Hosts, one.Value)
		return nil
	})
}

// eachHost reads what hosts have of their own.
func (r *reader) eachHost() error {
	if r.each == nil {
		return nil
	}
	all := fields{}
	for i, name := range r.t.Hosts {
		own := fields{}
		addNIC(own, &r.t.NICs[i])
		all[name] = func(n *yaml.Node) error {
			if err := own.read(n); err != nil {
				return err
			}
			return r.t.NICs[i].Check()
		}
	}
	if err := all.read(r.each); err != nil {
		return at(r.each, err, "each")
	}
	return nil
}

// way reads what one way, or one way and its way back, has of its own.
func (r *reader) way(n *yaml.Node) error {
	ends, oneWay := []int{}, false
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
		path := &r.t.paths[way[0]*len(r.t.Hosts)+way[1]]
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
