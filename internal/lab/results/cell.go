package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Cell is a workload over one kind of network.
type Cell struct {
	Workload WorkloadName `json:"workload"`
	// Params are the workload's, as its JSON has them: numbers, strings and truth
	// values. Sizes are in bytes, durations text: 1.5ms.
	Params map[string]any `json:"params"`
	Ranks  int            `json:"ranks"`
	// Link is the network that was emulated, nil if none was.
	Link *emulate.Link `json:"link,omitzero"`
	// Networks are several between the hosts, each as it was emulated: like Link, but for what
	// was asked for that network alone. Nil where there was one network, with that link.
	Networks []emulate.Network `json:"networks,omitzero"`
	// Unable is why no variant can run this cell here: loss, but nothing that
	// could emulate it.
	Unable string `json:"unable,omitzero"`
	// Runs are in the order in which they ran.
	Runs []Run `json:"runs"`
	// Summaries are what the runs say together, for who reads the file by other means:
	// they follow from the runs and are not read.
	Summaries []Summary `json:"summaries,omitzero"`
}

// ParamsOf makes a cell's parameters from a workload.
func ParamsOf(workload any) (map[string]any, error) {
	text, err := json.Marshal(workload)
	if err != nil {
		return nil, err
	}
	params := map[string]any{}
	if err := json.Unmarshal(text, &params); err != nil {
		return nil, fmt.Errorf("a workload %T as parameters: %w", workload, err)
	}
	return params, nil
}

// Number returns a parameter that is a number, and 0 if there is none of that name.
func (c *Cell) Number(name string) float64 {
	value, _ := c.Params[name].(float64)
	return value
}

// Text returns a parameter that is a string, and "" if there is none of that name.
func (c *Cell) Text(name string) string {
	value, _ := c.Params[name].(string)
	return value
}

// Delay is the shortest one of the cell's networks.
func (c *Cell) Delay() time.Duration {
	if c.Link == nil {
		return 0
	}
	least := c.Link.Delay
	for i, n := range c.Networks {
		if i == 0 || n.Delay < least {
			least = n.Delay
		}
	}
	return least
}

// HasSeveralNetworks tells whether the hosts have more than one network, or one that is
// not always there.
func (c *Cell) HasSeveralNetworks() bool {
	return len(c.Networks) > 1 || len(c.Networks) == 1 && len(c.Networks[0].Down.Outages) > 0
}

// Loss is the share of frames that the cell's link loses. It leaves out what networks have of
// their own.
func (c *Cell) Loss() float64 {
	if c.Link == nil {
		return 0
	}
	return c.Link.Loss.Share()
}

// Of returns the runs of a variant.
func (c *Cell) Of(variant string) []Run {
	var runs []Run
	for _, r := range c.Runs {
		if r.Variant == variant {
			runs = append(runs, r)
		}
	}
	return runs
}

// Good returns the runs of a variant that did not fail.
func (c *Cell) Good(variant string) []Run {
	return slices.DeleteFunc(c.Of(variant), func(r Run) bool { return r.Error != "" })
}

// Values returns what a variant's runs measured, those that did not fail.
func (c *Cell) Values(variant, metric string) []float64 {
	var values []float64
	for _, r := range c.Runs {
		if value, ok := r.Metrics[metric]; ok && r.Variant == variant && r.Error == "" {
			values = append(values, value)
		}
	}
	return values
}

// Pairs returns what two variants measured in the rounds in which neither failed, in the order
// of the rounds.
func (c *Cell) Pairs(a, b, metric string) (ofA, ofB []float64) {
	byRound := map[string]map[int]float64{a: {}, b: {}}
	var rounds []int
	for _, r := range c.Runs {
		value, ok := r.Metrics[metric]
		of := byRound[r.Variant]
		if _, twice := of[r.Round]; of == nil || twice || !ok || r.Error != "" {
			continue
		}
		of[r.Round] = value
		if r.Variant == a {
			rounds = append(rounds, r.Round)
		}
	}
	slices.Sort(rounds)
	for _, round := range rounds {
		if value, both := byRound[b][round]; both {
			ofA, ofB = append(ofA, byRound[a][round]), append(ofB, value)
		}
	}
	return ofA, ofB
}

// Failures returns the errors of a variant's runs.
func (c *Cell) Failures(variant string) []string {
	var failures []string
	for _, r := range c.Runs {
		if r.Variant == variant && r.Error != "" {
			failures = append(failures, r.Error)
		}
	}
	return failures
}

// Key is equal for cells of two reports that ask for the same: workload,
// parameters, ranks and network.
func (c *Cell) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d ", c.Workload, c.Ranks)
	// Neither has anything that JSON can not express: Check holds that. Maps are
	// written in the order of their names.
	_ = json.NewEncoder(&b).Encode(c.Params)
	_ = json.NewEncoder(&b).Encode(c.Link)
	if c.Networks != nil {
		_ = json.NewEncoder(&b).Encode(c.Networks)
	}
	return b.String()
}
