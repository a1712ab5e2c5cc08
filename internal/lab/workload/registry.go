package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand"
)

// A Workload is a program with its parameters.
type Workload interface {
	// Check returns what is wrong with the parameters.
	Check() error
	// Permits returns why so many ranks can not take part; nil if they can.
	Permits(ranks int) error
	// Run takes part, on every rank of the communicator. The result is nil on all
	// ranks but 0.
	Run(context.Context, *strand.Comm) (Result, error)
}

// A Result is what rank 0 has measured. As JSON it has all details.
type Result any

// A Kind is a workload by name.
type Kind struct {
	Name     string
	Defaults json.RawMessage // its parameters
	make     func() Workload // a new one, all zero
}

var kinds = []Kind{
	kind("pingpong", PingPong{Sizes: []int{30_000, 300_000}, Rounds: 100, Warmup: 5}),
	kind("farm", Farm{Tasks: 10_000, Size: 30_000, Fanout: 1, Outstanding: 10, Types: 10}),
	kind("hol", HOL{Messages: 5000, Size: 3000, Tags: 10, Interval: Duration(defaultInterval)}),
	kind("burst", Burst{Compute: Duration(defaultCompute), Messages: 10, Size: 30_000, Neighbours: 2, Rounds: 50}),
	kind("nas", NAS{Kernel: "cg", Class: "W"}),
}

// kind makes a kind of the workload type W, a pointer to which is a Workload.
func kind[W any](name string, defaults W) Kind {
	text, err := json.Marshal(defaults)
	if err != nil {
		panic(err) // a type of this package that is no JSON
	}
	return Kind{name, text, func() Workload { return any(new(W)).(Workload) }}
}

// Kinds are all workloads.
func Kinds() []Kind { return slices.Clone(kinds) }

// A Spec says which workload to run.
type Spec struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters,omitempty"` // those that are not the kind's defaults

	// Watch is how often each rank looks at its connections while the workload runs, for
	// [Connection] and [Moment]. "0s" is at the end only. A look takes some microseconds a
	// connection.
	Watch Duration `json:"watch,omitempty"`
}

// Workload returns what is to be run, with its defaults where nothing is said, and checked.
func (s Spec) Workload() (Workload, error) {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if k.Name == s.Name {
			return k.parse(s.Parameters)
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("there is no workload %q: want one of %s", s.Name, strings.Join(names, ", "))
}

func (k Kind) parse(parameters json.RawMessage) (Workload, error) {
	w := k.make()
	if err := json.Unmarshal(k.Defaults, w); err != nil {
		return nil, err
	}
	if len(parameters) > 0 {
		d := json.NewDecoder(bytes.NewReader(parameters))
		d.DisallowUnknownFields()
		err := d.Decode(w)
		if _, extra := d.Token(); err == nil && !errors.Is(extra, io.EOF) {
			err = errors.New("something follows them")
		}
		if err != nil {
			return nil, fmt.Errorf("workload %s: parameters %s: %w; they are, with their defaults, %s", k.Name, parameters, err, k.Defaults)
		}
	}
	if err := w.Check(); err != nil {
		return nil, fmt.Errorf("workload %s: %w", k.Name, err)
	}
	return w, nil
}

// Run runs what a spec says on every rank of the communicator, the world's own. The
// outcome is nil on all ranks but 0.
func (s Spec) Run(ctx context.Context, c *strand.Comm) (*Outcome, error) {
	w, err := s.Workload()
	if err != nil {
		return nil, err
	}
	if err := w.Permits(c.Size()); err != nil {
		return nil, fmt.Errorf("workload %s: %w", s.Name, err)
	}
	watch := startWatch(c.World(), time.Duration(s.Watch))
	result, err := w.Run(ctx, c)
	if err == nil {
		err = c.Barrier(ctx)
	}
	own := watch.end()
	if err != nil {
		return nil, fmt.Errorf("workload %s: %w", s.Name, err)
	}
	members, err := gather(ctx, c, own)
	if err != nil || c.Rank() != 0 {
		return nil, err
	}
	o := &Outcome{Workload: s.Name, Ranks: c.Size(), Members: members}
	if s.Watch > 0 {
		o.Course = watch.course
	}
	var parametersErr, detailErr error
	o.Parameters, parametersErr = json.Marshal(w)
	o.Detail, detailErr = json.Marshal(result)
	return o, errors.Join(parametersErr, detailErr)
}
