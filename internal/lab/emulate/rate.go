package emulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Rate is in bits a second, of whole Ethernet frames without preamble, check
// sequence and gap. 0 is as fast as the machine can.
type Rate int64

// Units of a Rate.
const (
	Kbit Rate = 1e3
	Mbit Rate = 1e6
	Gbit Rate = 1e9
)

// MaxRate is more than any machine moves frames at.
const MaxRate = 1000 * Gbit

// unlimited is how a rate of 0 is written.
const unlimited = "unlimited"

var rateUnits = []struct {
	name string
	rate Rate
}{{"gbit", Gbit}, {"mbit", Mbit}, {"kbit", Kbit}, {"bit", 1}}

// ParseRate reads a rate such as 100mbit, 2.5gbit or unlimited.
func ParseRate(text string) (Rate, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	if lower == unlimited {
		return 0, nil
	}
	for _, unit := range rateUnits {
		number, found := strings.CutSuffix(lower, unit.name)
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(value) {
			return 0, fmt.Errorf("rate %q: %q is no number; want one such as 100mbit, 2.5gbit or %s", text, number, unlimited)
		}
		bits := math.Round(value * float64(unit.rate))
		if bits < 1 || bits > float64(MaxRate) {
			return 0, fmt.Errorf("rate %q: want 1bit to %s, or %s", text, MaxRate, unlimited)
		}
		return Rate(bits), nil
	}
	return 0, fmt.Errorf("rate %q has no unit; want one of kbit, mbit and gbit, such as 100mbit, or %s", text, unlimited)
}

// String writes a rate as ParseRate reads it.
func (r Rate) String() string {
	if r == 0 {
		return unlimited
	}
	for _, unit := range rateUnits {
		if r >= unit.rate {
			return strconv.FormatFloat(float64(r)/float64(unit.rate), 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatInt(int64(r), 10) + "bit"
}

// byteNanos is the nanoseconds of a byte at one bit a second.
const byteNanos = 8e9

// duration is how long a frame of so many bytes takes.
func (r Rate) duration(size int) time.Duration {
	if r == 0 {
		return 0
	}
	return time.Duration((int64(size)*byteNanos + int64(r)/2) / int64(r))
}

// bytes is what takes so long.
func (r Rate) bytes(d time.Duration) float64 { return float64(d) * float64(r) / byteNanos }
