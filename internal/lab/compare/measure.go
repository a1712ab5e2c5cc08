package compare

import (
	"encoding/json"
	"fmt"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
)

// measure takes what a workload has told into a run.
func measure(r *results.Run, o *workload.Outcome) error {
	var err error
	switch results.WorkloadName(o.Workload) {
	case results.PingPong:
		err = pingPong(r, o.Detail)
	case results.Farm:
		var farm workload.FarmResult
		err = json.Unmarshal(o.Detail, &farm)
		r.Metrics = map[string]float64{results.RunTime: farm.Seconds, results.Throughput: farm.BytesPerSecond}
	case results.HOL:
		err = hol(r, o.Detail)
	case results.Burst:
		var burst workload.BurstResult
		err = json.Unmarshal(o.Detail, &burst)
		r.Metrics = map[string]float64{
			results.RunTime: burst.Seconds, results.RoundTime: burst.Bursts.Median, results.RoundTime9: burst.Bursts.P99,
		}
		r.Delays = []results.Distribution{distribution("all", burst.Bursts)}
	case results.NAS:
		var nas workload.NASResult
		err = json.Unmarshal(o.Detail, &nas)
		r.Metrics = map[string]float64{results.RunTime: nas.Seconds, results.Operations: nas.Mops * 1e6}
	default:
		err = fmt.Errorf("there is no workload %q", o.Workload)
	}
	if err != nil {
		return fmt.Errorf("rank 0 told what can not be read: %w", err)
	}
	return nil
}

func pingPong(r *results.Run, detail []byte) error {
	var p workload.PingPongResult
	if err := json.Unmarshal(detail, &p); err != nil {
		return err
	}
	if len(p.BySize) != 1 {
		return fmt.Errorf("%d sizes, want one", len(p.BySize))
	}
	rounds := p.BySize[0]
	r.Metrics = map[string]float64{
		results.Throughput: rounds.BytesPerSecond, results.RoundTrip: rounds.Median, results.RoundTrip9: rounds.P99,
	}
	r.Delays = []results.Distribution{distribution("all", rounds.Delays)}
	return nil
}

func hol(r *results.Run, detail []byte) error {
	var h workload.HOLResult
	if err := json.Unmarshal(detail, &h); err != nil {
		return err
	}
	r.Metrics = map[string]float64{
		results.Delay50: h.All.Median, results.Delay90: h.All.P90, results.Delay99: h.All.P99, results.DelayMax: h.All.Worst, results.HeldUp: h.HeldUp,
	}
	r.Delays = []results.Distribution{distribution("all", h.All)}
	for tag, delays := range h.ByTag {
		r.Delays = append(r.Delays, distribution(fmt.Sprintf("tag %d", tag), delays))
	}
	return nil
}

// distribution takes over quantiles at even shares, and the tail's.
func distribution(name string, d workload.Delays) results.Distribution {
	out := results.Distribution{Name: name, Count: d.Count}
	add := func(share, seconds float64) {
		out.Quantiles = append(out.Quantiles, results.Quantile{Share: share, Seconds: seconds})
	}
	last := len(d.Quantiles) - 1
	for i, seconds := range d.Quantiles {
		if i == last {
			add(0.99, d.P99)
			add(0.999, d.P999)
		}
		add(float64(i)/float64(last), seconds)
	}
	return out
}
