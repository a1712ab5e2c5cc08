package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/param"
)

// A Task is a workload with its parameters.
type Task struct {
	Spec    workload.Spec
	Params  map[string]any // all of them, as a [results.Cell] has them
	permits func(ranks int) error
}

// watchEvery is how often a rank looks at its connections.
const watchEvery = 20 * time.Millisecond

// pairs are the workloads of which only two ranks take part.
var pairs = []string{"pingpong", "hol"}

// ranks returns how many of so many take part.
func (t *Task) ranks(all int) int {
	if slices.Contains(pairs, t.Spec.Name) {
		return 2
	}
	return all
}

// Axes are parameters that several workloads have, each with all values to try. An empty axis
// changes nothing, and what a workload's own parameters say comes before any axis.
type Axes struct {
	Sizes     []int64
	Fanouts   []int64
	Tasks     []int64
	Orderings []string
}

// ParseTasks reads a list of workloads, pingpong,farm(tasks=100,size=30K), and returns a task
// for each combination of their parameters.
func ParseTasks(text string, axes Axes) ([]Task, error) {
	items, err := parseItems(text)
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, i := range items {
		more, err := i.tasks(axes)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if slices.ContainsFunc(tasks, t.same) {
				return nil, fmt.Errorf("%s: there twice with the same parameters", i.name)
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// same tells whether another task does the same.
func (t Task) same(other Task) bool {
	return t.Spec.Name == other.Spec.Name && reflect.DeepEqual(t.Params, other.Params)
}

// tasks returns those of an item of the list.
func (i item) tasks(axes Axes) ([]Task, error) {
	defaults, err := defaultsOf(i.name)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	params := maps.Clone(defaults)
	for _, p := range i.params {
		value, err := readParam(i.name, p, defaults)
		if err != nil {
			return nil, err
		}
		own[p.name], params[p.name] = true, value
	}
	combinations := []map[string]any{params}
	for _, axis := range []struct {
		name   string
		values []any
	}{{"size", anys(axes.Sizes)}, {"fanout", anys(axes.Fanouts)}, {"tasks", anys(axes.Tasks)}, {"ordering", anys(axes.Orderings)}} {
		if _, has := defaults[axis.name]; !has || own[axis.name] || len(axis.values) == 0 {
			continue
		}
		var more []map[string]any
		for _, c := range combinations {
			for _, value := range axis.values {
				next := maps.Clone(c)
				next[axis.name] = value
				more = append(more, next)
			}
		}
		combinations = more
	}
	tasks := make([]Task, 0, len(combinations))
	for _, c := range combinations {
		t, err := newTask(i.name, c)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func anys[T any](values []T) []any {
	all := make([]any, 0, len(values))
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// defaultsOf returns the parameters of a workload with their defaults.
func defaultsOf(name string) (map[string]any, error) {
	var names []string
	for _, kind := range workload.Kinds() {
		if kind.Name == name {
			return flat(kind.Defaults)
		}
		names = append(names, kind.Name)
	}
	return nil, noSuch("workload", name, names)
}

// A ping-pong can do several sizes in one run. Here each has a cell of its own.
const (
	multi   = "pingpong"
	one     = "size"
	several = "sizes"
)

// flat reads parameters. A list of sizes becomes its first.
func flat(text json.RawMessage) (map[string]any, error) {
	params := map[string]any{}
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, err
	}
	if params["ordering"] == "" {
		params["ordering"] = "strict" // and not whatever the ranks' parameters say
	}
	if sizes, ok := params[several].([]any); ok && len(sizes) > 0 {
		params[one] = sizes[0]
		delete(params, several)
	}
	return params, nil
}

// readParam reads a parameter's value, which is of the same kind as its default.
func readParam(workload string, p pair, defaults map[string]any) (any, error) {
	switch defaults[p.name].(type) {
	case float64:
		n, err := param.ParseSize(p.value)
		if err != nil {
			return nil, fmt.Errorf("%s(%s=%s): %w", workload, p.name, p.value, err)
		}
		return n, nil
	case bool:
		b, err := strconv.ParseBool(p.value)
		if err != nil {
			return nil, fmt.Errorf("%s(%s=%s): want true or false", workload, p.name, p.value)
		}
		return b, nil
	case string:
		return p.value, nil
	}
	return nil, fmt.Errorf("workload %s: %w", workload, noSuch("parameter", p.name, slices.Sorted(maps.Keys(defaults))))
}

// newTask makes a task of a workload and all of its parameters, which it checks.
func newTask(name string, params map[string]any) (Task, error) {
	t := Task{Spec: workload.Spec{Name: name, Watch: workload.Duration(watchEvery)}}
	given := maps.Clone(params)
	if name == multi {
		given[several] = []any{given[one]}
		delete(given, one)
	}
	var err error
	if t.Spec.Parameters, err = json.Marshal(given); err != nil {
		return t, err
	}
	w, err := t.Spec.Workload()
	if err != nil {
		return t, err
	}
	t.permits = w.Permits
	t.Params, err = results.ParamsOf(params)
	return t, err
}
