package reach

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A speedometer asks drivers for the speed of their links, by ethtool's ioctl:
// it goes by a socket and so by the network namespace, whereas /sys/class/net
// shows the namespace that /sys was mounted in.
type speedometer struct{ fd int }

func newSpeedometer() speedometer {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return speedometer{fd}
}

func (s speedometer) close() {
	if s.fd >= 0 {
		unix.Close(s.fd)
	}
}

// ethtoolCommand is struct ethtool_cmd of linux/ethtool.h.
type ethtoolCommand struct {
	command                                   uint32
	supported, advertising                    uint32
	speed                                     uint16
	duplex, port, physical, transceiver       uint8
	autonegotiation, mdioSupport              uint8
	maxTransmit, maxReceive                   uint32
	speedHigh                                 uint16
	mdix, mdixControl                         uint8
	linkPartnerAdvertising, reserved, padding uint32
}

// read returns Mbit/s, 0 where the driver does not know.
func (s speedometer) read(name string) int {
	if s.fd < 0 || len(name) >= unix.IFNAMSIZ {
		return 0
	}
	settings := &ethtoolCommand{command: unix.ETHTOOL_GSET}
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // struct ifreq is larger
	}{data: unsafe.Pointer(settings)}
	copy(request.name[:], name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	runtime.KeepAlive(settings)
	speed := uint32(settings.speedHigh)<<16 | uint32(settings.speed)
	const unknown = 1<<31 - 1 // SPEED_UNKNOWN and, with a lost high bit, anything absurd
	if errno != 0 || speed >= unknown {
		return 0
	}
	return int(speed)
}
