package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A message that fits the window, after a pause, takes as long as the network needs for it: it is not spread
// over a round trip, however often such messages have come.
func TestMessagesAreNotSpread(t *testing.T) {
	const rate, delay, packets = 1000 * emulate.Mbit, 2 * time.Millisecond, 24 // even: no acknowledgement is held back
	eachController(t, func(t *testing.T, control func() Controller) {
		s := simulate(t, link(2, rate, delay, 1<<20, nil))
		f := s.add(control(), 0)
		took := time.Duration(0)
		for range 20 {
			began := s.now
			f.left = packets
			s.run(began + time.Second)
			took = s.now - began
			s.now += 3 * time.Millisecond
		}
		assert.Less(t, took, 2*delay+400*time.Microsecond, f.String())
	})
}

// A wide window over a quick path is a pace of more bytes in a millisecond than an int of 32 bits can count.
func TestAPaceThatIsNoInt(t *testing.T) {
	p := NewPath[int](Config{Packet: 65000}, &Reno{packet: 65000, window: 64 << 20, threshold: unlimited})
	p.add(ms, 5000, 0) // 5 µs
	p.Room(ms, 65000)
	assert.Equal(t, 65000, p.Room(2*ms, 65000))
	assert.Equal(t, unlimited, p.pacer.room(3*ms, p.pace()))
}
