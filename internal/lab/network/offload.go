//go:build linux

package network

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// features are parts of the names of what makes frames that no wire has: longer
// than the MTU, or without a checksum.
var features = []string{"segmentation", "-checksum", "-gro", "-gso", "-lro"}

// Constants of linux/ethtool.h.
const (
	stringsOfFeatures = 4  // ETH_SS_FEATURES
	stringLength      = 32 // ETH_GSTRING_LEN
)

// withoutOffloads switches off, in the calling thread's network, all that an interface
// would do in place of its host: ethtool -K with the names that ethtool -k prints,
// by struct ethtool_sfeatures of linux/ethtool.h.
func withoutOffloads(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("interface %s: features: %w", name, err)
	}
	defer unix.Close(fd)
	names, err := featureNames(fd, name)
	if err != nil {
		return fmt.Errorf("interface %s: names of features: %w", name, err)
	}
	words := (len(names) + 31) / 32
	request := binary.NativeEndian.AppendUint32(nil, unix.ETHTOOL_SFEATURES)
	request = binary.NativeEndian.AppendUint32(request, uint32(words))
	for word := range words {
		valid := uint32(0)
		for bit, feature := range names[word*32 : min(len(names), word*32+32)] {
			if isOffload(feature) {
				valid |= 1 << bit
			}
		}
		request = binary.NativeEndian.AppendUint32(request, valid)
		request = binary.NativeEndian.AppendUint32(request, 0) // wanted: none of them
	}
	// A feature that can not be changed is off already, or is none of ours. The kernel tells of
	// those by a number that is no error.
	if err := ethtool(fd, name, request); err != nil {
		return fmt.Errorf("interface %s: switching off offloads: %w", name, err)
	}
	return nil
}

func isOffload(feature string) bool {
	for _, part := range features {
		if strings.Contains(feature, part) {
			return true
		}
	}
	return false
}

// featureNames returns the names of the kernel's features, by bit.
func featureNames(fd int, name string) ([]string, error) {
	const infoBytes = 20 // struct ethtool_sset_info with one length
	info := make([]byte, infoBytes)
	binary.NativeEndian.PutUint32(info, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(info[8:], 1<<stringsOfFeatures)
	if err := ethtool(fd, name, info); err != nil {
		return nil, err
	}
	count := binary.NativeEndian.Uint32(info[16:])
	strs := make([]byte, 12+count*stringLength)
	binary.NativeEndian.PutUint32(strs, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(strs[4:], stringsOfFeatures)
	binary.NativeEndian.PutUint32(strs[8:], count)
	if err := ethtool(fd, name, strs); err != nil {
		return nil, err
	}
	names := make([]string, count)
	for i := range names {
		text, _, _ := bytes.Cut(strs[12+i*stringLength:][:stringLength], []byte{0})
		names[i] = string(text)
	}
	return names, nil
}

// ethtool does one request, whose answer comes in its place.
func ethtool(fd int, name string, request []byte) error {
	var ifreq struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(ifreq.name[:unix.IFNAMSIZ-1], name)
	ifreq.data = unsafe.Pointer(&request[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifreq)))
	if errno != 0 {
		return errno
	}
	return nil
}
