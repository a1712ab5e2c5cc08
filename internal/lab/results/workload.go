package results

import (
	"fmt"
	"slices"
	"strings"
)

// A WorkloadName says which workload.
type WorkloadName string

// The workloads.
const (
	PingPong WorkloadName = "pingpong"
	Farm     WorkloadName = "farm"
	HOL      WorkloadName = "hol"
	Burst    WorkloadName = "burst"
	NAS      WorkloadName = "nas"
)

// A Workload is what the report knows of one.
type Workload struct {
	Name  WorkloadName
	Title string
	About string // in one sentence, for people
	// Metrics are what its runs measure. The first is the headline, by which
	// variants are compared and which each good run must have.
	Metrics []Metric
}

// A Metric is what was measured.
type Metric struct {
	Name string // the key in Run.Metrics
	Text string // for people
	Unit Unit
	// LessIsBetter is so for times.
	LessIsBetter bool
}

// A Unit is what a metric is in.
type Unit string

// Units.
const (
	Seconds             Unit = "s"
	BytesPerSecond      Unit = "B/s"
	OperationsPerSecond Unit = "op/s"
	Share               Unit = "share"
)

// Names of metrics.
const (
	RunTime    = "run_time"   // s, of the whole workload
	Throughput = "throughput" // B/s of payload
	RoundTrip  = "round_trip" // s, median of a run's
	RoundTrip9 = "round_trip_p99"
	Delay50    = "delay_p50" // s, of a message from send to receive
	Delay90    = "delay_p90"
	Delay99    = "delay_p99"
	DelayMax   = "delay_max"
	HeldUp     = "held_up"    // share of messages that came late behind one of another tag
	RoundTime  = "round_time" // s, median of how long a burst's messages took
	RoundTime9 = "round_time_p99"
	Operations = "operations" // a second, of all ranks, as NPB counts them
)

// Workloads are all there are, in the order of a report.
var Workloads = []Workload{
	{PingPong, "Ping-pong", "One message goes to another rank and comes back, again and again; no other is under way.", []Metric{
		{Throughput, "throughput", BytesPerSecond, false},
		{RoundTrip, "median round trip", Seconds, true},
		{RoundTrip9, "99th percentile of round trips", Seconds, true},
	}},
	{Farm, "Farm", "A manager hands out tasks to workers that have several requests outstanding and take tasks in any order.", []Metric{
		{RunTime, "run time", Seconds, true},
		{Throughput, "throughput", BytesPerSecond, false},
	}},
	{HOL, "Head-of-line blocking", "Messages of many tags at a steady pace, each tag with a receiver of its own: how long they take.", []Metric{
		{Delay99, "99th percentile of delays", Seconds, true},
		{Delay50, "median delay", Seconds, true},
		{Delay90, "90th percentile of delays", Seconds, true},
		{DelayMax, "worst delay", Seconds, true},
		{HeldUp, "messages held up by one of another tag", Share, true},
	}},
	{Burst, "Bursts", "All ranks compute, then exchange messages with their neighbours, again and again; the slowest one sets the pace.", []Metric{
		{RunTime, "run time", Seconds, true},
		{RoundTime, "median burst", Seconds, true},
		{RoundTime9, "99th percentile of bursts", Seconds, true},
	}},
	{NAS, "NAS", "A kernel of the NAS parallel benchmarks, verified; its time is what NPB times.", []Metric{
		{RunTime, "run time", Seconds, true},
		{Operations, "operations", OperationsPerSecond, false},
	}},
}

// Workload returns what is known of a workload, nil if there is none of that name.
func (n WorkloadName) Workload() *Workload {
	for i := range Workloads {
		if Workloads[i].Name == n {
			return &Workloads[i]
		}
	}
	return nil
}

// Headline is the metric by which variants are compared, unless a report says otherwise.
func (w *Workload) Headline() Metric { return w.Metrics[0] }

// MetricOf is the metric by which a report compares the variants of a workload.
func (r *Report) MetricOf(w *Workload) Metric {
	for _, name := range r.By {
		if m, ok := w.Metric(name); ok {
			return m
		}
	}
	return w.Headline()
}

// Metrics are the names of all that workloads are compared by.
func Metrics() (all []string) {
	for i := range Workloads {
		for _, m := range Workloads[i].Metrics {
			if !slices.Contains(all, m.Name) {
				all = append(all, m.Name)
			}
		}
	}
	return all
}

// CheckMetrics refuses what no workload has, and what would be two for one workload.
func CheckMetrics(names []string) error {
	taken := map[WorkloadName]string{}
	for i := range Workloads {
		w := &Workloads[i]
		for _, m := range w.Metrics {
			if !slices.Contains(names, m.Name) {
				continue
			}
			if other, two := taken[w.Name]; two {
				return fmt.Errorf("%s and %s are both of %s: want one", other, m.Name, w.Name)
			}
			taken[w.Name] = m.Name
		}
	}
	all := Metrics()
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%q: want some of %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// Metric returns a metric by its name.
func (w *Workload) Metric(name string) (Metric, bool) {
	for _, m := range w.Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}
