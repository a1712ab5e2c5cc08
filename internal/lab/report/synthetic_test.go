package report_test

import (
	"fmt"
	"math"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/machine"
)

// A maker makes reports that nobody has measured: their figures come from formulas
// and a seeded generator.
type maker struct {
	exponential
	r     *results.Report
	order int
}

// Names of the variants of synthetic reports.
const (
	tcp   = "tcp"
	sctp  = "sctp(streams=10)"
	sctp1 = "sctp(streams=1)"
	udp   = "udp"
)

var factorOf = map[string]float64{tcp: 1, sctp: 0.45, sctp1: 0.97}

func newMaker(seed uint64, runs int) *maker {
	started := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return &maker{newExponential(seed), &results.Report{
		Format: results.Format, Version: "synthetic", Seed: seed, Runs: runs,
		Command: []string{"strand", "compare", "--btl", "tcp,sctp(streams=10),sctp(streams=1),udp", "--loss", "0,1,2", "--seed", fmt.Sprint(seed)},
		Started: started, Finished: started.Add(12*time.Minute + 34*time.Second),
		Machine: machine.Machine{Host: "nowhere", OS: "linux", Kernel: "6.1.0", Arch: "amd64", CPU: "Synthetic Processor", CPUs: 2, MemoryBytes: 8 << 30, Go: "go1.26"},
		Links:   results.Links{Kind: results.UserSpace, Why: "netem: this kernel has none"},
		Variants: []results.Variant{
			{Name: tcp, BTL: "tcp", Params: map[string]string{"btl_tcp_congestion": "cubic"}, Facts: map[string]string{results.FactCongestion: "cubic", results.FactStack: "kernel", results.FactMTU: "1500", results.FactSendBuffer: "220 KB"}},
			{Name: sctp, BTL: "sctp", Params: map[string]string{"btl_sctp_streams": "10"}, Facts: map[string]string{results.FactCongestion: "reno", results.FactStack: "user space", results.FactMTU: "1500", results.FactSendBuffer: "220 KB"}},
			{Name: sctp1, BTL: "sctp", Params: map[string]string{"btl_sctp_streams": "1"}, Facts: map[string]string{results.FactCongestion: "reno", results.FactStack: "user space", results.FactMTU: "1500", results.FactSendBuffer: "220 KB"}},
			{Name: udp, BTL: "udp", Unable: "there is no transport udp"},
		},
	}, 0}
}

func lossy(loss float64) *emulate.Link {
	return &emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}, Path: emulate.Path{Delay: 5 * time.Millisecond, Loss: emulate.Independent(loss)}}
}

// cell adds a cell in which a run of the first variant takes so many seconds.
func (m *maker) cell(w results.WorkloadName, params map[string]any, ranks int, loss, seconds float64) *results.Cell {
	m.r.Cells = append(m.r.Cells, results.Cell{Workload: w, Params: params, Ranks: ranks, Link: lossy(loss)})
	c := &m.r.Cells[len(m.r.Cells)-1]
	for round := range m.r.Runs {
		for _, v := range m.r.Variants {
			if v.Unable != "" {
				continue
			}
			factor := 1.0
			if loss > 0 {
				factor = factorOf[v.Name]
			}
			c.Runs = append(c.Runs, m.run(c, v.Name, round, seconds*factor*(1+0.05*m.ExpFloat64())))
		}
	}
	return c
}

func (m *maker) run(c *results.Cell, variant string, round int, seconds float64) results.Run {
	r := results.Run{Variant: variant, Round: round, Order: m.order, Seed: uint64(round), Started: m.r.Started, Seconds: seconds + 0.3, Metrics: map[string]float64{}}
	m.order++
	switch size := c.Number("size"); c.Workload {
	case results.PingPong:
		r.Metrics = map[string]float64{results.Throughput: 2 * size / seconds, results.RoundTrip: seconds, results.RoundTrip9: 3 * seconds}
	case results.HOL:
		delays := make([]float64, 1000)
		for i := range delays {
			delays[i] = 0.005 + 0.1*seconds*m.ExpFloat64()
		}
		d := distribution(delays)
		r.Delays = []results.Distribution{d}
		r.Metrics = map[string]float64{results.Delay99: d.At(0.99), results.Delay50: d.At(0.5), results.Delay90: d.At(0.9), results.DelayMax: d.At(1)}
	default:
		r.Metrics = map[string]float64{results.RunTime: seconds}
	}
	sent := uint64(1e5 * seconds)
	r.Network = &results.Network{Counters: emulate.Counters{Sent: sent, Lost: uint64(c.Loss() * float64(sent)), Delivered: sent - uint64(c.Loss()*float64(sent))}}
	r.Network.LateMeanSeconds, r.Network.LateSeconds = 40e-6, 300e-6
	r.Rails = []results.Rail{{Rank: 0, Peer: 1, Name: "eth0", SentBytes: 1e6, ReceivedBytes: 1e6, Retransmissions: uint64(c.Loss() * 1e3)}}
	w := results.Window{Rank: 0, Peer: 1, Name: "eth0"}
	for i := range 50 {
		w.Samples = append(w.Samples, results.WindowSample{At: seconds * float64(i) / 50, Bytes: 14480 * (2 + math.Mod(float64(i)/(1+100*c.Loss()), 10)), RTT: 0.01})
	}
	r.Windows = []results.Window{w}
	return r
}

// synthetic is a report with all workloads, a variant that can not run, and runs that failed.
func synthetic() *results.Report {
	m := newMaker(42, 6)
	for _, size := range []float64{30_000, 300_000} {
		for _, loss := range []float64{0, 0.01, 0.02} {
			m.cell(results.Farm, map[string]any{"size": size, "fanout": 1.0, "tasks": 1000.0, "ordering": "relaxed"}, 8, loss, size/30_000*(0.6+200*loss))
		}
	}
	for _, size := range []float64{1024, 30_000, 300_000} {
		for _, loss := range []float64{0, 0.01} {
			m.cell(results.PingPong, map[string]any{"size": size, "rounds": 200.0}, 2, loss, 0.01+size/1e8+loss)
		}
	}
	for _, loss := range []float64{0.01, 0.02} {
		m.cell(results.HOL, map[string]any{"size": 2000.0, "messages": 1000.0, "tags": 10.0, "interval": "1ms"}, 2, loss, 20*loss)
	}
	c := m.cell(results.Burst, map[string]any{"size": 30_000.0, "compute": "5ms", "neighbours": 2.0}, 4, 0.01, 1.5)
	for i := range c.Runs {
		if c.Runs[i].Variant == sctp1 && i > 3 {
			c.Runs[i].Error, c.Runs[i].Metrics = "rank 2: peer 1 failed\n\x1b[31mconnection reset", nil
		}
	}
	return m.r
}
