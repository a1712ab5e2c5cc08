//go:build linux

package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is where the kernel puts the frames that come in at an interface:
// packet_mmap.rst in the kernel's documentation, TPACKET_V2. (V3 hands over blocks,
// not frames, up to a millisecond late.)
type ring struct {
	fd     int
	memory []byte
	slot   int // bytes of a frame with its header
	slots  int
	next   int
}

// Sizes of a ring.
const (
	ringHeader = 128 // more than a header, an address and alignment take
	ringBlock  = 1 << 16
	minSlots   = 256
	maxSlots   = 4096 // 50 ms of full frames at 1 Gbit/s
	ringsBytes = 64 << 20
)

// newRing opens a packet socket on an interface. Frames have at most so many bytes.
func newRing(index, frame, rings int) (*ring, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0) // nothing comes before bind
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	r := &ring{fd: fd, slot: 1 << bits.Len(uint(frame+ringHeader-1))}
	r.slots = max(minSlots, min(maxSlots, ringsBytes/rings/r.slot))
	if err := r.open(index); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) open(index int) error {
	for _, option := range []struct {
		name        string
		code, value int
	}{
		{"PACKET_VERSION", unix.PACKET_VERSION, unix.TPACKET_V2},
		{"PACKET_IGNORE_OUTGOING", unix.PACKET_IGNORE_OUTGOING, 1}, // what we send is not to come back
		{"PACKET_QDISC_BYPASS", unix.PACKET_QDISC_BYPASS, 1},
	} {
		if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, option.code, option.value); err != nil {
			return fmt.Errorf("packet socket: option %s (Linux 4.20 has it): %w", option.name, err)
		}
	}
	block := max(ringBlock, r.slot)
	request := unix.TpacketReq{
		Block_size: uint32(block), Block_nr: uint32((r.slots*r.slot + block - 1) / block),
		Frame_size: uint32(r.slot), Frame_nr: uint32((r.slots*r.slot + block - 1) / block * block / r.slot),
	}
	r.slots = int(request.Frame_nr)
	size := int(request.Block_nr) * block
	if err := unix.SetsockoptTpacketReq(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request); err != nil {
		return fmt.Errorf("packet socket: a ring of %d bytes: %w", size, err)
	}
	var err error
	if r.memory, err = unix.Mmap(r.fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("packet socket: mapping a ring of %d bytes: %w", size, err)
	}
	if err := unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index}); err != nil {
		return fmt.Errorf("packet socket on interface %d: %w", index, err)
	}
	return nil
}

// networkOrder stores a number as a protocol wants it.
func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

func (r *ring) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // it was mapped
	}
	unix.Close(r.fd)
}

// A packet is a frame in a ring.
type packet struct {
	data   []byte        // the ring's until it is released
	length int           // of the frame; more than len(data) if it did not fit
	at     time.Duration // since 1970, by the system's clock
	status *uint32
}

// header is that of a slot, counted from the next one.
func (r *ring) header(ahead int) *unix.Tpacket2Hdr {
	slot := r.next + ahead
	if slot >= r.slots {
		slot -= r.slots
	}
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.memory[slot*r.slot]))
}

// count returns how many frames are there, up to a number that the ring has slots for.
func (r *ring) count(most int) (n int) {
	for n < most && atomic.LoadUint32(&r.header(n).Status)&unix.TP_STATUS_USER != 0 {
		n++
	}
	return n
}

// peek returns the next frame, which must have been counted.
func (r *ring) peek() packet {
	header := r.header(0)
	at := r.next * r.slot
	start := at + int(header.Mac)
	return packet{
		data:   r.memory[start : start+int(header.Snaplen)],
		length: int(header.Len),
		at:     time.Duration(header.Sec)*time.Second + time.Duration(header.Nsec),
		status: &header.Status,
	}
}

// release gives the frame that peek has returned back to the kernel.
func (r *ring) release(p packet) {
	atomic.StoreUint32(p.status, unix.TP_STATUS_KERNEL)
	if r.next++; r.next == r.slots {
		r.next = 0
	}
}

// overruns returns how many frames found the ring full.
func (r *ring) overruns() (uint64, error) {
	s, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, fmt.Errorf("packet socket: statistics: %w", err)
	}
	return uint64(s.Drops), nil
}
