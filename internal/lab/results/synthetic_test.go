package results_test

import (
	"slices"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/machine"
)

// distribution is that of some times.
func distribution(seconds []float64) results.Distribution {
	d := results.Distribution{Name: "all", Count: len(seconds)}
	if len(seconds) == 0 {
		return d
	}
	sorted := slices.Sorted(slices.Values(seconds))
	for _, share := range []float64{0, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1} {
		d.Quantiles = append(d.Quantiles, results.Quantile{Share: share, Seconds: sorted[int(share*float64(len(sorted)-1))]})
	}
	return d
}

// synthetic is a report that nobody has measured.
func synthetic() *results.Report {
	link := &emulate.Link{
		NIC:  emulate.NIC{Rate: emulate.Gbit},
		Path: emulate.Path{Delay: 5 * time.Millisecond, Loss: emulate.Independent(0.01)},
	}
	outages := emulate.Schedule{Outages: []emulate.Outage{{At: time.Second, For: time.Second}}, Every: 3 * time.Second}
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := func(variant string, order int, seconds float64) results.Run {
		return results.Run{
			Variant: variant, Round: order / 2, Order: order, Seed: 1<<63 + 1, Started: started, Seconds: seconds + 1,
			Metrics: map[string]float64{results.RunTime: seconds, results.Throughput: 1e6 / seconds},
			Network: &results.Network{Counters: emulate.Counters{Sent: 1000, Lost: 10, Cut: 5, Delivered: 985}, Networks: []results.NetworkPart{
				{Name: "main", Counters: emulate.Counters{Sent: 600, Cut: 5, Lost: 10, Delivered: 585}, Seconds: 4, Down: outages.Until(4 * time.Second)},
				{Name: "spare", Counters: emulate.Counters{Sent: 400, Delivered: 400}, Seconds: 4},
			}},
			Rails:   []results.Rail{{Rank: 0, Peer: 1, Name: "eth0", SentBytes: 1e6, Retransmissions: 10}},
			Windows: []results.Window{{Rank: 0, Peer: 1, Name: "eth0", Samples: []results.WindowSample{{At: 0.1, Bytes: 14480, RTT: 0.01}, {At: 0.2, Bytes: 28960}}}},
			Delays:  []results.Distribution{distribution([]float64{3, 1, 2})},
		}
	}
	return &results.Report{
		Format: results.Format, Version: "synthetic", Command: []string{"strand", "compare", "--btl", "tcp,sctp"},
		Started: started, Finished: started.Add(time.Minute), Seed: 1<<64 - 1, Runs: 2,
		Machine:  machine.Machine{OS: "linux", Kernel: "6.1", Arch: "amd64", CPU: "synthetic", CPUs: 2, MemoryBytes: 8 << 30, Go: "go1.26"},
		Links:    results.Links{Kind: results.UserSpace, Why: "netem: the kernel has none"},
		Variants: []results.Variant{{Name: "tcp", BTL: "tcp", Facts: map[string]string{results.FactMTU: "1500"}}, {Name: "sctp(streams=10)", BTL: "sctp", Params: map[string]string{"btl_sctp_streams": "10"}}},
		Cells: []results.Cell{{
			Workload: results.Farm, Params: map[string]any{"size": 30000.0, "ordering": "strict", "check": true}, Ranks: 4, Link: link,
			Networks: []emulate.Network{{Name: "main", Link: *link, Down: outages}, {Name: "spare", Link: *link}},
			Runs:     []results.Run{run("tcp", 0, 3), run("sctp(streams=10)", 1, 2), run("tcp", 2, 4), {Variant: "sctp(streams=10)", Round: 1, Order: 3, Error: "rank 2\ncrashed"}},
		}},
	}
}
