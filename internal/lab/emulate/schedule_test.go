package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseSchedule(t *testing.T) {
	for text, want := range map[string]Schedule{
		"2s+1s":                 {Outages: []Outage{{2 * time.Second, time.Second}}},
		"0s+1ms; 5s+500ms":      {Outages: []Outage{{0, time.Millisecond}, {5 * time.Second, 500 * time.Millisecond}}},
		"1s+1s/3s":              {Outages: []Outage{{time.Second, time.Second}}, Every: 3 * time.Second},
		"100ms+100ms;1s+1s/10s": {Outages: []Outage{{100 * time.Millisecond, 100 * time.Millisecond}, {time.Second, time.Second}}, Every: 10 * time.Second},
	} {
		got, err := ParseSchedule(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseSchedule(got.String())
		require.NoError(t, err, text)
		assert.Equal(t, want, again)
	}
	for text, want := range map[string]string{
		"":               `"" is no outage; want start+length, such as 2s+1s`,
		"2s":             `"2s" is no outage`,
		"2s+":            `"2s+" is no outage`,
		"2+1":            `"2+1" is no outage`,
		"2s+0s":          "down at 2s for 0s: want a start of 0 or more and a length above 0",
		"-1s+2s":         "down at -1s for 2s: want a start of 0 or more",
		"1s+99h":         "of at most 24h0m0s",
		"2s+1s;1s+1s":    "down at 1s: the outage before it lasts until 3s",
		"2s+1s;3s+1s":    "with time between them",
		"2s+1s/3s":       "every 3s: want more than 3s, when the last outage is over",
		"2s+1s/often":    `"often" is no time after which outages come again`,
		"2s+1s/0s":       "is no time after which",
		"2s+1s/99999h1s": "at most 24h0m0s",
	} {
		_, err := ParseSchedule(text)
		assert.ErrorContains(t, err, want, text)
	}
	assert.ErrorContains(t, Schedule{Every: time.Second}.Check(), "there is no outage that could come again")
	assert.Empty(t, Schedule{}.String())
}

// drawSchedule draws outages, which may come again.
func drawSchedule(t *rapid.T) (s Schedule) {
	at := time.Duration(0)
	for range rapid.IntRange(0, 5).Draw(t, "outages") {
		at += time.Duration(rapid.IntRange(1, 20).Draw(t, "pause"))
		long := time.Duration(rapid.IntRange(1, 20).Draw(t, "length"))
		s.Outages = append(s.Outages, Outage{at, long})
		at += long
	}
	if at > 0 && rapid.Bool().Draw(t, "again") {
		s.Every = at + time.Duration(rapid.IntRange(1, 20).Draw(t, "rest"))
	}
	return s
}

// At each moment: down or up as its outages say, until the next moment at which that changes.
func TestScheduleIsWhatItsOutagesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		require.NoError(t, s.Check())
		const end = time.Duration(400)
		naive := func(at time.Duration) bool {
			if s.Every > 0 {
				at %= s.Every
			}
			for _, o := range s.Outages {
				if at >= o.At && at < o.At+o.For {
					return true
				}
			}
			return false
		}
		var spans []Outage
		for at := time.Duration(0); at < end; at++ {
			down, until := s.Down(at)
			if down != naive(at) || until <= at { // package require is slow for so many
				t.Fatalf("at %d: down %v until %d, want down %v until later", at, down, until, naive(at))
			}
			for between := at; between < min(until, end); between++ {
				if down != naive(between) {
					t.Fatalf("at %d: down %v until %d, but not at %d", at, down, until, between)
				}
			}
			switch {
			case !down:
			case len(spans) > 0 && spans[len(spans)-1].end() == at:
				spans[len(spans)-1].For++
			default:
				spans = append(spans, Outage{at, 1})
			}
		}
		require.Equal(t, spans, s.Until(end))
	})
}

// What hosts send while the network is down is lost, and counted. What is on its way arrives.
// What chance decides about other frames is the same as without the outage.
func TestOutage(t *testing.T) {
	sent := func(down Schedule) (c Counters, arrived []Frame) {
		l := Link{Path: Path{Delay: 5 * time.Millisecond, Loss: Independent(0.3)}}
		config := Uniform(2, l, 7)
		config.Down = down
		s, err := New(config)
		require.NoError(t, err)
		for i := range 100 {
			s.Send(time.Duration(i)*time.Millisecond, 0, 1, Frame(i), 100)
		}
		for _, d := range s.Due(time.Hour, make([]Delivery, 0, 100)) {
			arrived = append(arrived, d.Frame)
		}
		return s.Counters(0, 1), arrived
	}
	without, all := sent(Schedule{})
	down, err := ParseSchedule("20ms+10ms;60ms+5ms")
	require.NoError(t, err)
	with, some := sent(down)
	assert.EqualValues(t, 15, with.Cut)
	assert.Zero(t, without.Cut)
	var want []Frame
	for _, f := range all {
		if (f < 20 || f >= 30) && (f < 60 || f >= 65) {
			want = append(want, f)
		}
	}
	assert.Equal(t, want, some)
	assert.Equal(t, with.Sent, with.Lost+with.Cut+with.Delivered)
	config := Uniform(2, Link{}, 1)
	config.Down.Every = 1
	_, err = New(config)
	require.Error(t, err)
}
