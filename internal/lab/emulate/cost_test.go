package emulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loaded returns a switch with a thousand frames on their way.
func loaded(t testing.TB) (s *Switch, step func()) {
	l := Link{NIC{Rate: Gbit}, everything}
	l.Delay = 10 * time.Millisecond
	s, err := New(Uniform(8, l, 1))
	require.NoError(t, err)
	out := make([]Delivery, 0, 64)
	at, from := time.Duration(0), 0
	step = func() {
		at += 12_112
		from = (from + 1) % 8
		s.Send(at, from, (from*3+1)%8, 0, 1514)
		s.Due(at, out)
	}
	for range 5000 {
		step()
	}
	return s, step
}

func TestFramesAllocateNothing(t *testing.T) {
	_, step := loaded(t)
	require.Zero(t, testing.AllocsPerRun(10_000, step))
}

func BenchmarkFrame(b *testing.B) {
	_, step := loaded(b)
	for b.Loop() {
		step()
	}
}
