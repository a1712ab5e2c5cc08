package wire

import (
	"math/bits"
	"time"

	"github.com/strandmp/strand/internal/lab/stats"
)

// Stats are about the wire itself: what it did beside what it was asked to. In a
// good run all but Frames and the times at the end are 0.
type Stats struct {
	Frames uint64 `json:"frames"` // sent

	// Frames that were lost because the machine was too slow or had too little
	// memory. Results of a run with many of them tell little.
	Overrun  uint64 `json:"overrun"`   // a host's frames found the wire's ring full
	Refused  uint64 `json:"refused"`   // the kernel's own queues toward a host were full
	NoMemory uint64 `json:"no_memory"` // there were too many on their way

	Oversize uint64 `json:"oversize"` // longer than the MTU: offloads are on
	Stray    uint64 `json:"stray"`    // for no host of the network, or for all

	// How late frames were sent: the median, what 99 % do not exceed (both rounded up by less
	// than half), the average and the worst.
	Late   time.Duration `json:"late"`
	Late99 time.Duration `json:"late_99"`
	Mean   time.Duration `json:"late_mean"`
	Worst  time.Duration `json:"late_worst"`
}

// Spoilt is how many frames were lost that should not have been.
func (s Stats) Spoilt() uint64 { return s.Overrun + s.Refused + s.NoMemory + s.Oversize }

// Add adds those of another wire. The average is that of all frames; of the other times the
// greater ones are kept.
func (s *Stats) Add(o Stats) {
	if frames := float64(s.Frames + o.Frames); frames > 0 {
		s.Mean = time.Duration((float64(s.Mean)*float64(s.Frames) + float64(o.Mean)*float64(o.Frames)) / frames)
	}
	s.Frames += o.Frames
	s.Overrun += o.Overrun
	s.Refused += o.Refused
	s.NoMemory += o.NoMemory
	s.Oversize += o.Oversize
	s.Stray += o.Stray
	s.Late, s.Late99 = max(s.Late, o.Late), max(s.Late99, o.Late99)
	s.Worst = max(s.Worst, o.Worst)
}

// lateness counts times in steps of half a power of two.
type lateness struct {
	counts [128]uint64
	total  uint64
	sum    time.Duration
	worst  time.Duration
}

func (l *lateness) add(d time.Duration) {
	d = max(d, 1)
	l.worst = max(l.worst, d)
	l.sum += d
	l.total++
	l.counts[step(d)]++
}

func (l *lateness) mean() time.Duration { return l.sum / time.Duration(max(l.total, 1)) }

// step is 2n for times from 2ⁿ⁻¹ and 2n+1 from 3·2ⁿ⁻².
func step(d time.Duration) int {
	n := bits.Len64(uint64(d))
	if n < 2 {
		return 2 * n
	}
	return 2*n + int(d>>(n-2)&1)
}

// longest is the longest time of a step.
func longest(step int) time.Duration {
	n := step / 2
	switch {
	case n < 2:
		return time.Duration(n)
	case step%2 == 0:
		return 3<<(n-2) - 1
	}
	return 1<<n - 1
}

// quantile returns a time that a quantile is not above: that of the first of the two values
// next to it which is not below it.
func (l *lateness) quantile(share float64) time.Duration {
	if l.total == 0 {
		return 0
	}
	place, part := stats.Place(int(l.total), share)
	if part > 0 {
		place++
	}
	rest := uint64(place)
	for i, n := range l.counts {
		if n > rest {
			return min(longest(i), l.worst)
		}
		rest -= n
	}
	return l.worst
}
