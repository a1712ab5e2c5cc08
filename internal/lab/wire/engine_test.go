//go:build linux

package wire

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A kernel puts frames into the rings of an engine without sockets, and has a clock that both
// look at.
type kernel struct {
	*Engine
	time time.Time
	// preempt is called when the engine has looked at the clock: what happens before it goes on.
	preempt func()
	put     []int // frames, by host
}

func newKernel(t *testing.T, c emulate.Config) *kernel {
	net, err := emulate.New(c)
	require.NoError(t, err)
	const frame, slots = 64, 1024
	k := &kernel{time: time.Unix(1_700_000_000, 0), put: make([]int, net.Hosts()), preempt: func() {}}
	k.Engine = &Engine{net: net, frame: frame, epoch: k.time, buffers: newBuffers(frame, 1<<20), clock: func() time.Time {
		defer k.preempt()
		return k.time
	}}
	t.Cleanup(k.buffers.close)
	for range net.Hosts() {
		const slot = 256
		k.ports = append(k.ports, newPort(&ring{fd: -1, memory: make([]byte, slot*slots), slot: slot, slots: slots}))
	}
	return k
}

// send has a host send a frame now.
func (k *kernel) send(from, to int) {
	r := k.ports[from].ring
	const mac = ringHeader
	header := (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.memory[k.put[from]%r.slots*r.slot]))
	*header = unix.Tpacket2Hdr{
		Status: unix.TP_STATUS_USER, Len: 60, Snaplen: 60, Mac: mac,
		Sec: uint32(k.time.Unix()), Nsec: uint32(k.time.Nanosecond()),
	}
	data := r.memory[k.put[from]%r.slots*r.slot+mac:]
	copy(data, HardwareAddr(to))
	binary.LittleEndian.PutUint64(data[14:], uint64(k.put[from]))
	k.put[from]++
}

// A frame that comes while the engine stands still between looking at its clock and looking at
// the rings is as long on its way as any other.
func TestNoFrameIsEarlyWhereTheEngineIsPreempted(t *testing.T) {
	const delay, stop = 5 * time.Millisecond, 3900 * time.Microsecond
	for reading := range 4 { // of the clock, after which it stands still
		k := newKernel(t, emulate.Uniform(2, emulate.Link{Path: emulate.Path{Delay: delay}}, 1))
		var sent time.Time
		readings := 0
		k.preempt = func() {
			if readings++; readings == reading+1 {
				k.time = k.time.Add(stop)
				sent = k.time
				k.send(0, 1)
			}
		}
		for range 3 {
			k.collect()
			k.time = k.time.Add(time.Microsecond)
		}
		due, some := k.net.Next()
		require.True(t, some)
		assert.Equal(t, sent.Sub(k.epoch)+delay, due, "preempted after reading %d", reading)
	}
}

// However long the engine has stood still, frames are on their way since they came: it is the engine that is late, and that is
// what it says of itself. That goes for what it takes in later turns, too.
func TestFramesThatWaitedForLongAreLate(t *testing.T) {
	const delay, still = 5 * time.Millisecond, 3 * time.Second
	k := newKernel(t, emulate.Uniform(2, emulate.Link{Path: emulate.Path{Delay: delay}}, 1))
	k.collect()
	k.time = k.time.Add(time.Millisecond)
	const many = 2*fullTurn + 1
	for range many {
		k.send(0, 1)
	}
	sent := k.time.Sub(k.epoch)
	k.time = k.time.Add(still)
	for handed := 0; handed < many; {
		k.collect()
		k.time = k.time.Add(time.Millisecond)
		for _, d := range k.net.Due(k.time.Sub(k.epoch), make([]emulate.Delivery, 0, many)) {
			handed++
			require.Equal(t, sent+delay, d.Due, "frame %d", handed)
		}
	}

	// A clock that was set says nothing.
	k.collect()
	now := k.time
	k.time = now.Add(-2 * time.Second)
	k.send(0, 1)
	k.time = now
	k.collect()
	due, some := k.net.Next()
	require.True(t, some)
	assert.Equal(t, now.Sub(k.epoch)+delay, due)
}

// The frames of a batch leave one after the other: the last one is as late as the call is long that sends them.
func TestFramesOfABatchAreLateByTheirTurn(t *testing.T) {
	const call = time.Millisecond
	k := newKernel(t, emulate.Uniform(2, emulate.Link{}, 1))
	for range batch {
		k.send(0, 1)
	}
	_, until := k.collect()
	readings := 0
	k.preempt = func() {
		if readings++; readings == 1 { // before the call
			k.time = k.time.Add(call)
		}
	}
	k.deliver(make([]emulate.Delivery, 0, batch), until)
	assert.Equal(t, call, k.late.worst)
	assert.InDelta(t, call/2, k.late.mean(), float64(call/50))
	assert.Equal(t, uint64(batch), k.late.total)
}

// What a turn leaves in a ring is not overtaken by what others sent after it: else the
// receiver's queue would have sent the later frame first, and held the earlier ones up.
func TestTimeGoesOnForAReceiverOfMany(t *testing.T) {
	k := newKernel(t, emulate.Uniform(3, emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}}, 1))
	const many, apart = 3 * fullTurn, 10 * time.Microsecond
	for i := range many {
		k.time = k.time.Add(apart)
		k.send(0, 2)
		if i == many-1 {
			k.send(1, 2)
		}
	}
	handed := 0
	for turns := 0; handed < many; turns++ {
		require.Less(t, turns, 100, "%d of %d frames have come", handed, many)
		k.time = k.time.Add(time.Millisecond)
		_, until := k.collect()
		for _, d := range k.net.Due(until, make([]emulate.Delivery, 0, many+1)) {
			if handed++; handed <= many {
				sent := time.Duration(handed) * apart
				require.InDelta(t, sent, d.Due, float64(2*time.Microsecond), "frame %d", handed)
			}
		}
	}
}
