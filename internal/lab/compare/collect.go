package compare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
)

// Bounds of what ranks may tell. Beyond them it is no result of ours.
const (
	maxTold      = 64 << 20
	maxComplaint = 8 << 10
)

// collect takes what rank 0 has told into a run.
func collect(r *results.Run, told []byte) (facts map[string]string, err error) {
	var a answer
	if err := json.Unmarshal(told, &a); err != nil || a.Outcome == nil {
		return nil, fmt.Errorf("rank 0 ended well but told no result: %.200q", told)
	}
	if err := measure(r, a.Outcome); err != nil {
		return nil, err
	}
	if head := headline(a.Outcome.Workload); !(r.Metrics[head] > 0) { // nor NaN
		return nil, fmt.Errorf("rank 0 told a %s of %v: want more than 0", head, r.Metrics[head])
	}
	for _, m := range a.Outcome.Members {
		for _, c := range m.Connections {
			if c.Peer != m.Rank && c.BytesSent+c.BytesReceived > 0 {
				r.Rails = append(r.Rails, rail(m.Rank, c))
			}
		}
	}
	r.Rails = condense(r.Rails)
	r.Windows = windows(a.Outcome.Course)
	for name, fact := range a.Facts {
		a.Facts[name] = shorten(fact)
	}
	return a.Facts, nil
}

// condense makes rails few enough for a report: one for each pair of ranks or, if those are still
// too many, one for each rank. The name of such a rail says what it stands for.
func condense(rails []results.Rail) []results.Rail {
	if len(rails) <= results.MaxRails {
		return rails
	}
	pairs := sum(rails, "%d connections", func(r results.Rail) int { return r.Peer })
	if len(pairs) <= results.MaxRails {
		return pairs
	}
	return sum(pairs, "all connections to %d ranks", func(r results.Rail) int { return r.Rank })
}

// sum adds up the rails of each rank that go to the same peer. The function peer names the peer,
// so it decides what is added up.
func sum(rails []results.Rail, name string, peer func(results.Rail) int) []results.Rail {
	type ends struct{ rank, peer int }
	var all []results.Rail
	at, count := make(map[ends]int), make(map[ends]int)
	for _, r := range rails {
		e := ends{r.Rank, peer(r)}
		i, known := at[e]
		if !known {
			i = len(all)
			at[e] = i
			all = append(all, results.Rail{Rank: e.rank, Peer: e.peer})
		}
		count[e]++
		all[i].Name = fmt.Sprintf(name, count[e])
		all[i].SentBytes += r.SentBytes
		all[i].ReceivedBytes += r.ReceivedBytes
		all[i].Retransmissions += r.Retransmissions
		all[i].Timeouts += r.Timeouts
		all[i].RetransmissionsUnknown = all[i].RetransmissionsUnknown || r.RetransmissionsUnknown
		all[i].TimeoutsUnknown = all[i].TimeoutsUnknown || r.TimeoutsUnknown
	}
	return all
}

// shorten cuts a fact that is too long for a report.
func shorten(fact string) string {
	const more = "…"
	if len(fact) <= results.MaxName {
		return fact
	}
	return strings.ToValidUTF8(fact[:results.MaxName-len(more)], "") + more
}

// headline is the name of a workload's first metric, without which a run is none.
func headline(name string) string { return results.WorkloadName(name).Workload().Headline().Name }

func rail(rank int, c workload.Connection) results.Rail {
	return results.Rail{
		Rank: rank, Peer: c.Peer, Name: c.Desc, SentBytes: c.BytesSent, ReceivedBytes: c.BytesReceived,
		Retransmissions: uint64(max(c.Resent, 0)), Timeouts: uint64(max(c.Timeouts, 0)),
		RetransmissionsUnknown: c.Resent < 0, TimeoutsUnknown: c.Timeouts < 0,
	}
}

// windows is how the windows of rank 0 went, all together.
func windows(course []workload.Moment) []results.Window {
	w := results.Window{Name: "all connections of rank 0"}
	for _, m := range course {
		w.Samples = append(w.Samples, results.WindowSample{At: m.Seconds, Bytes: float64(m.Windows), RTT: m.RoundTrip})
	}
	if len(w.Samples) == 0 {
		return nil
	}
	return []results.Window{w}
}
