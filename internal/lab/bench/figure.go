package bench

import (
	"strconv"

	"github.com/strandmp/strand/param"
)

// Unit says what the figures of a comparison are.
func (w Workload) Unit() string {
	switch w {
	case Coll:
		return "a call in µs"
	case PingPong:
		return "half round trip in µs"
	case Exchange:
		return "an exchange in µs"
	case Stream, Burst:
		return "bandwidth in MB/s"
	case Pairs:
		return "thousand messages a second, of all pairs together"
	}
	return "thousand messages a second"
}

// Figure expresses the time of a message in the workload's unit.
func (w Workload) Figure(size int, us float64) float64 {
	switch w {
	case PingPong, Exchange, Coll:
		return us
	case Stream, Burst:
		return float64(size) / us
	}
	return 1000 / us
}

// ProcessorUnit says what [Workload.Processor] is in.
func (w Workload) ProcessorUnit() string {
	switch w {
	case Stream, Burst:
		return "s a GB"
	case Coll:
		return "µs a call"
	case Exchange:
		return "µs an exchange"
	}
	return "µs a message"
}

// Processor expresses the processor time of a message: for what is counted in bytes that of as many
// as are a GB.
func (w Workload) Processor(size int, us float64) float64 {
	if w == Stream || w == Burst {
		return us / float64(max(size, 1)) * 1000
	}
	return us
}

// LessIsBetter tells which way ratios are: of a ping-pong, of exchanges and of collective calls they are Strand's
// time over the peer's, else Strand's rate over the peer's.
func (w Workload) LessIsBetter() bool { return w.single() || w == Coll }

// ratioMeaning says what a ratio is and which way is better.
func (w Workload) ratioMeaning() string {
	if w.LessIsBetter() {
		return "strand's time over the peer's, less is better"
	}
	return "strand over the peer, more is better"
}

// Digits writes a figure with about three digits that count.
func Digits(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v > 0 && v < 0.1:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// FormatSize is a size as people write it.
func FormatSize(size int) string { return param.FormatSize(int64(size)) }
