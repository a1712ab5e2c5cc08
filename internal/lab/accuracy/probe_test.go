//go:build linux

package accuracy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
)

// Sizes of what is sent.
const (
	frameBytes   = network.DefaultMTU + emulate.EthernetHeader
	payloadBytes = network.DefaultMTU - 28 // without the headers of IPv4 and UDP
)

// A probe sends from host 0 to host 1. Its sockets are not Go's, whose poller
// would be part of what is measured.
type probe struct {
	from, to int
	target   *network.Host
	payload  [payloadBytes]byte
}

// patience is how long to wait for a marker before another one is sent: a marker may be lost, or
// late on a busy machine. Where nothing is lost, one datagram gets tries times as long.
const (
	patience = 200 * time.Millisecond
	tries    = 300
)

// Ports: one that somebody listens at, and one that nobody does.
const (
	heard   = 7001
	unheard = 7002
)

func newProbe(n *network.Network) (p *probe, err error) {
	p = &probe{from: -1, to: -1, target: n.Host(1)}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if err = n.Host(0).Do(func() (err error) { p.from, err = udp(); return err }); err != nil {
		return p, err
	}
	if err = p.target.Do(func() (err error) { p.to, err = udp(); return err }); err != nil {
		return p, err
	}
	timeout := unix.NsecToTimeval(int64(patience))
	return p, errors.Join(
		unix.SetsockoptInt(p.to, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptTimeval(p.to, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout),
		unix.Bind(p.to, &unix.SockaddrInet4{Port: heard}))
}

func udp() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("UDP socket: %w", err)
	}
	return fd, nil
}

func (p *probe) close() {
	for _, fd := range []int{p.from, p.to} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (p *probe) send(port int, bytes []byte) error {
	return unix.Sendto(p.from, bytes, 0, &unix.SockaddrInet4{Port: port, Addr: p.target.Addr().As4()})
}

// oneWay returns how long a datagram took.
func (p *probe) oneWay() (time.Duration, error) {
	sent := time.Now().UnixNano()
	if err := p.send(heard, p.payload[:markerBytes]); err != nil {
		return 0, err
	}
	got, _, err := p.receive()
	for try := 1; errors.Is(err, unix.EAGAIN) && try < tries; try++ {
		got, _, err = p.receive()
	}
	return time.Duration(got - sent), err
}

// markerBytes is the size of a marker: its number.
const markerBytes = 8

// receive returns when the kernel got the next datagram, in nanoseconds since 1970, and
// its number.
func (p *probe) receive() (at int64, number uint64, err error) {
	var data [markerBytes]byte
	control := make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))))
	_, n, _, _, err := unix.Recvmsg(p.to, data[:], control, 0)
	for errors.Is(err, unix.EINTR) {
		_, n, _, _, err = unix.Recvmsg(p.to, data[:], control, 0)
	}
	if err != nil {
		return 0, 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return 0, 0, err
	}
	var stamp unix.Timespec
	for _, m := range messages {
		if m.Header.Type == unix.SO_TIMESTAMPNS {
			_, err := binary.Decode(m.Data, binary.NativeEndian, &stamp)
			return stamp.Nano(), binary.LittleEndian.Uint64(data[:]), err
		}
	}
	return 0, 0, errors.New("the kernel did not say when a datagram came")
}

// flood sends so many full frames a second, count of them or until it is stopped,
// a millisecond's at a time.
func (p *probe) flood(perSecond float64, count int, stop <-chan struct{}) error {
	const interval = time.Millisecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	if count < 0 {
		count = math.MaxInt
	}
	start, sent := time.Now(), 0
	for sent < count {
		// A ticker that was held up leaves ticks out. What they owed is sent now, but not all at
		// once.
		due := min(time.Since(start).Seconds()*perSecond-float64(sent), 10*perSecond*interval.Seconds())
		for ; due >= 1 && sent < count; due-- {
			if err := p.send(unheard, p.payload[:]); err != nil {
				return err
			}
			sent++
		}
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// drain returns when all that was sent has arrived. No frame overtakes another, so drain sends a
// marker behind the rest and waits for it. markers is how many markers have arrived.
func (p *probe) drain() (markers int, err error) {
	for last := range uint64(tries) {
		if err := p.send(heard, binary.LittleEndian.AppendUint64(nil, last)); err != nil {
			return 0, err
		}
		for {
			_, number, err := p.receive()
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			if err != nil {
				return 0, err
			}
			if markers++; number == last {
				return markers, nil
			}
		}
	}
	return 0, fmt.Errorf("the last of %d datagrams has not arrived", tries)
}

// warmUp is how long a flood takes to fill all queues.
const warmUp = 200 * time.Millisecond

// received returns how many bytes a second come in over a stretch of time.
func (p *probe) received(stretch time.Duration) (float64, error) {
	var at [2]time.Time
	var got [2]uint64
	for i, pause := range []time.Duration{warmUp, stretch} {
		<-time.After(pause)
		before := time.Now()
		var err error
		if _, got[i], err = p.target.Received(); err != nil {
			return 0, err
		}
		at[i] = before.Add(time.Since(before) / 2)
	}
	return float64(got[1]-got[0]) / at[1].Sub(at[0]).Seconds(), nil
}
