package emulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Loss loses frames by the model of Gilbert (1960) and Elliott (1963): the path
// is good or bad, frames are lost with a chance for each state, and after each
// frame the state may change. The zero value loses nothing.
type Loss struct {
	Good     float64 `json:"good"`     // chance of a frame to be lost while the path is good
	Bad      float64 `json:"bad"`      // chance of a frame to be lost while the path is bad
	Worsens  float64 `json:"worsens"`  // chance, after each frame, of a good path to turn bad
	Recovers float64 `json:"recovers"` // chance, after each frame, of a bad path to turn good
}

// Independent loses each frame with the same chance, whatever happened to others.
func Independent(share float64) Loss { return Loss{Good: share} }

// Bursts loses a share of frames, in runs of the given mean length. (Independent loss has runs
// too, of 1/(1-share) on the average.)
func Bursts(share, length float64) Loss {
	switch {
	case share <= 0:
		return Loss{}
	case share >= 1:
		return Independent(share)
	}
	recovers := 1 / length
	worsens := recovers * share / (1 - share)
	if worsens < 1+rounding {
		worsens = min(worsens, 1)
	}
	return Loss{Bad: 1, Worsens: worsens, Recovers: recovers}
}

// rounding is the error that floating point may add to a chance: 0.9/(1-0.9) is a little more
// than 9.
const rounding = 1e-9

// Share is the share of frames that are lost in the long run.
func (l Loss) Share() float64 {
	if l.Worsens == 0 {
		return l.Good
	}
	bad := l.Worsens / (l.Worsens + l.Recovers)
	return (1-bad)*l.Good + bad*l.Bad
}

// ParseLoss reads 1% or, for runs of four lost frames on the average, 1%/4.
func ParseLoss(text string) (Loss, error) {
	percent, length, inBursts := strings.Cut(strings.TrimSpace(text), "/")
	share, err := ParseShare(percent)
	switch {
	case err != nil && inBursts:
		return Loss{}, fmt.Errorf("loss %q: %w", text, err)
	case err != nil:
		return Loss{}, fmt.Errorf("loss %w", err)
	case !inBursts:
		return Independent(share), nil
	}
	mean, err := strconv.ParseFloat(strings.TrimSpace(length), 64)
	if err != nil || !(mean >= 1) || math.IsInf(mean, 0) {
		return Loss{}, fmt.Errorf("loss %q: %q is no length of a run of lost frames; want 1 or more, such as 1%%/4", text, length)
	}
	l := Bursts(share, mean)
	if l.Worsens > 1 {
		return Loss{}, fmt.Errorf("loss %q: so many frames can not be lost in runs of %g on the average; want runs of %g or more, or leave out /%s",
			text, mean, LeastRun(share), length)
	}
	return l, nil
}

// LeastRun is the least mean length of runs in which that share can be lost, rounded up to
// hundredths.
func LeastRun(share float64) float64 { return math.Ceil((share/(1-share)-rounding)*100) / 100 }

// ParseShare reads a share of frames, in per cent: 1% or 1.
func ParseShare(text string) (float64, error) {
	number, _ := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(value >= 0 && value <= 100) {
		return 0, fmt.Errorf("%q: want 0%% to 100%%", text)
	}
	return value / 100, nil
}

// String writes a loss as ParseLoss reads it, if that can be.
func (l Loss) String() string {
	percent := func(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) + "%" }
	switch {
	case l.Worsens == 0:
		return percent(l.Good)
	case l.Good == 0 && l.Bad == 1:
		return percent(l.Share()) + "/" + strconv.FormatFloat(1/l.Recovers, 'g', 6, 64)
	}
	return fmt.Sprintf("%s (good %s, bad %s, worsens %s, recovers %s)",
		percent(l.Share()), percent(l.Good), percent(l.Bad), percent(l.Worsens), percent(l.Recovers))
}

func (l Loss) check() error {
	for _, c := range []struct {
		name  string
		value float64
	}{{"good", l.Good}, {"bad", l.Bad}, {"worsens", l.Worsens}, {"recovers", l.Recovers}} {
		if err := checkShare("loss: "+c.name, c.value); err != nil {
			return err
		}
	}
	if l.Worsens > 0 && l.Recovers == 0 && l.Bad < 1 {
		return fmt.Errorf("loss: a path that worsens and never recovers is bad for ever: give recovers, or say independent loss of %g", l.Bad)
	}
	return nil
}

// lossState is one path's.
type lossState struct {
	Loss
	rng *rand.Rand
	bad bool
}

// next tells whether the next frame is lost.
func (s *lossState) next() bool {
	chance, change := s.Good, s.Worsens
	if s.bad {
		chance, change = s.Bad, s.Recovers
	}
	lost := s.rng.Float64() < chance
	if s.Worsens > 0 && s.rng.Float64() < change {
		s.bad = !s.bad
	}
	return lost
}
