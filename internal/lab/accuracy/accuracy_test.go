//go:build linux

package accuracy

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// What a slow machine can not spoil: no frame is early, no link lets more than twice its rate
// through, and the share of lost frames is the one asked for, apart from those that the machine
// itself lost.
func TestLinksDoWhatIsAsked(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	plan := standard()
	if !need.Soaking() {
		plan = Plan{
			Delays: []time.Duration{0, time.Millisecond, 20 * time.Millisecond}, Datagrams: 10,
			Rates: []emulate.Rate{10 * emulate.Mbit, 100 * emulate.Mbit}, Stretch: 300 * time.Millisecond,
			Losses: []float64{0, 0.01, 0.1}, Frames: 5000, Seed: 1,
		}
	}
	results := 0
	require.NoError(t, plan.Run(func(r Result) {
		results++
		t.Log(r)
		switch r.What {
		case Delay:
			assert.GreaterOrEqual(t, r.Low, r.Asked, "a frame is early")
		case Rate:
			// A machine that stood still while the queue filled has more to deliver
			// afterwards.
			assert.LessOrEqual(t, r.Got, r.Asked*2)
			assert.NotZero(t, r.Got)
		case Loss:
			if need.Soaking() { // among so many, one may lie outside of the usual interval by chance
				r.Low, r.High = interval(r.Got, plan.Frames, wide)
			}
			assert.LessOrEqual(t, r.Low, r.Asked+float64(r.Wire.Wire.Spoilt())/float64(plan.Frames))
			assert.GreaterOrEqual(t, r.High, r.Asked)
		}
	}))
	assert.Equal(t, len(plan.Delays)+len(plan.Rates)+len(plan.Losses), results)
}

// No frame is early, however often the thread that moves the frames stands still. The load is
// threads that never wait, two for each processor.
func TestNoFrameIsEarlyUnderLoad(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	const delay, perSecond = 5 * time.Millisecond, 10_000
	frames := 1000
	if need.Soaking() {
		frames = 100_000
	}
	n, err := network.New(network.Config{Hosts: 2, Link: emulate.Link{Path: emulate.Path{Delay: delay}}, Seed: 1, Backend: network.UserSpace})
	require.NoError(t, err)
	p, err := newProbe(n)
	require.NoError(t, err)
	defer p.close()
	defer burden(2 * runtime.NumCPU())()

	stop, sending := make(chan struct{}), make(chan error, 1)
	go func() { sending <- p.stamped(perSecond, stop) }()
	early, least := 0, time.Hour
	for got, silent := 0, 0; got < frames; {
		arrived, sent, err := p.receive()
		if errors.Is(err, unix.EAGAIN) {
			silent++
			require.Less(t, silent, tries, "%d of %d frames came", got, frames)
			continue
		}
		require.NoError(t, err)
		got, silent = got+1, 0
		took := time.Duration(arrived - int64(sent))
		least = min(least, took)
		if took < delay {
			early++
		}
	}
	close(stop)
	require.NoError(t, <-sending)
	report, err := n.Close()
	require.NoError(t, err)
	t.Logf("%d frames, the fastest after %v; late: %v in the middle, %v for 99 %%", frames, least, report.Wire.Late, report.Wire.Late99)
	assert.Zero(t, early, "of %d frames", frames)
}

// stamped sends datagrams that say when they were sent, until it is told to stop.
func (p *probe) stamped(perSecond float64, stop <-chan struct{}) error {
	start := time.Now()
	for sent := 0.0; ; sent++ {
		for time.Since(start).Seconds()*perSecond < sent {
			runtime.Gosched()
		}
		select {
		case <-stop:
			return nil
		default:
		}
		now := uint64(time.Now().UnixNano())
		if err := p.send(heard, binary.LittleEndian.AppendUint64(nil, now)); err != nil {
			return err
		}
	}
}

// burden keeps the processors busy until it is told to end.
func burden(threads int) (end func()) {
	processors := runtime.GOMAXPROCS(2*threads + runtime.NumCPU()) // so that the system shares them out
	var over atomic.Bool
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			for !over.Load() {
			}
		})
	}
	return func() {
		over.Store(true)
		all.Wait()
		runtime.GOMAXPROCS(processors)
	}
}

func TestInterval(t *testing.T) {
	low, high := interval(0.01, 100_000, usual)
	assert.InDelta(t, 0.0094, low, 0.0001)
	assert.InDelta(t, 0.0106, high, 0.0001)
	low, high = interval(0, 1000, usual)
	assert.Zero(t, low)
	assert.InDelta(t, 0.0038, high, 0.0001)
}
