//go:build linux

package rates_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A sample is what a rank had received at a time.
type sample struct {
	at    time.Time
	bytes int
}

// samples reads what meter has printed.
func samples(t *testing.T, r *nettest.Run, rank int) (all []sample) {
	t.Helper()
	for _, line := range r.Lines(rank) {
		if text, ok := strings.CutPrefix(line.Text, traffic.MeterPrefix); ok {
			n, err := strconv.Atoi(text)
			require.NoError(t, err)
			all = append(all, sample{line.At, n})
		}
	}
	return all
}

// mean is the rate between two times in Mbit/s.
func mean(all []sample, from, to time.Time) float64 {
	var first, last sample
	for _, s := range all {
		if first.at.IsZero() && !s.at.Before(from) {
			first = s
		}
		if !s.at.After(to) {
			last = s
		}
	}
	if !last.at.After(first.at) {
		return 0
	}
	return megabits(last.bytes-first.bytes, last.at.Sub(first.at))
}

// best is the highest rate of a second between two times, and when that second
// began.
func best(all []sample, from, to time.Time) (rate float64, at time.Time) {
	for ; from.Add(time.Second).Before(to); from = from.Add(100 * time.Millisecond) {
		if v := mean(all, from, from.Add(time.Second)); v > rate {
			rate, at = v, from
		}
	}
	return rate, at
}

// show writes the rate of each tenth of a second.
func show(all []sample, from, to time.Time) string {
	var b strings.Builder
	for i, s := range all[1:] {
		if s.at.After(from) && s.at.Before(to) {
			fmt.Fprintf(&b, " %.0f", megabits(s.bytes-all[i].bytes, s.at.Sub(all[i].at)))
		}
	}
	return b.String()
}

// A network is taken down in the middle of the traffic and comes up again: what was
// sent is all there, the other link goes on alone within a second, and both are used
// in the end. In the short form one good attempt of several is enough: the machine may be
// busy.
func TestThroughputWhileALinkIsDown(t *testing.T) {
	if need.Soaking() {
		for _, f := range takeLinksDown(t, 10, 400) {
			assert.NoError(t, f.wrong())
		}
		return
	}
	const attempts = 4
	var wrong error
	for range attempts {
		if wrong = takeLinksDown(t, 1, 200)[0].wrong(); wrong == nil {
			return
		}
	}
	assert.NoError(t, wrong)
}

// A fall is what became of the rate when one link fell and rose again, in Mbit/s.
type fall struct{ both, alone, after float64 }

func (f fall) wrong() error {
	switch {
	case f.alone <= f.both*0.3:
		return fmt.Errorf("the other link does not go on: %.0f Mbit/s after %.0f over both", f.alone, f.both)
	case f.after <= f.alone*1.2:
		return fmt.Errorf("both are not used again: %.0f Mbit/s after %.0f over one", f.after, f.alone)
	}
	return nil
}

// A cycle is when one link fell and rose again.
type cycle struct{ start, down, up, end time.Time }

// fall is what became of the rate, and when the best second after the rise began. The first
// second of what goes before is not looked at: rates have to settle.
func (k cycle) fall(all []sample) (f fall, at time.Time) {
	f = fall{both: mean(all, k.start.Add(time.Second), k.down), alone: mean(all, k.down.Add(time.Second), k.up)}
	f.after, at = best(all, k.up, k.end)
	return f, at
}

// takeLinksDown takes one of two links down, then the other, and so on.
func takeLinksDown(t *testing.T, times, mbits int) (falls []fall) {
	up, down := time.Duration(need.Times(2, 3))*time.Second, time.Duration(need.Times(2, 3))*time.Second
	const again = 8 * time.Second // at most, in the short form
	n, a, b := nettest.Hosts(t)
	links := []*testnet.Link{
		n.Link(a, b, testnet.Subnet("10.1.0.0/24"), testnet.Rate(mbits)),
		n.Link(a, b, testnet.Subnet("10.2.0.0/24"), testnet.Rate(mbits)),
	}
	r := traffic.Start(t, a, b, need.Times(traffic.UntilItIsEnough, 1+times*int((up+down+again)/time.Second)))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var cycles []cycle
	for i := range times {
		k := cycle{start: time.Now()}
		<-time.After(up)
		k.down = time.Now()
		links[i%2].Down()
		<-time.After(down)
		links[i%2].Up()
		k.up, k.end = time.Now(), time.Now()
		for k.end.Sub(k.up) < again {
			if f, _ := k.fall(samples(t, r, 1)); f.wrong() == nil && !need.Soaking() {
				break
			}
			k.end = <-tick.C
		}
		cycles = append(cycles, k)
	}
	traffic.End(r)
	traffic.Require(t, r)
	all := samples(t, r, 1)
	for _, k := range cycles {
		f, at := k.fall(all)
		t.Logf("both %.0f Mbit/s, one alone from a second after on %.0f, both again %.0f, %v after it came back; each tenth of a second from the end of the one on:%s",
			f.both, f.alone, f.after, at.Sub(k.up).Round(100*time.Millisecond), show(all, k.down.Add(-500*time.Millisecond), k.down.Add(1500*time.Millisecond)))
		falls = append(falls, f)
	}
	return falls
}
