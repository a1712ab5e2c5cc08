package sctpsock

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// message makes a notification of the kernel's: kind, flags, length, and then
// values of 16 and 32 bits.
func message(kind Kind, flags uint16, fields ...any) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(kind))
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = append(b, 0, 0, 0, 0)
	for _, f := range fields {
		switch v := f.(type) {
		case uint16:
			b = binary.NativeEndian.AppendUint16(b, v)
		case uint32:
			b = binary.NativeEndian.AppendUint32(b, v)
		case []byte:
			b = append(b, v...)
		}
	}
	binary.NativeEndian.PutUint32(b[4:], uint32(len(b)))
	return b
}

// storage is a struct sockaddr_storage.
func storage(a netip.AddrPort) []byte {
	b := make([]byte, 128)
	binary.BigEndian.PutUint16(b[2:], a.Port())
	if a.Addr().Is4() {
		binary.NativeEndian.PutUint16(b, familyInet)
		copy(b[4:], a.Addr().AsSlice())
	} else {
		binary.NativeEndian.PutUint16(b, familyInet6)
		copy(b[8:], a.Addr().AsSlice())
	}
	return b
}

var peer = netip.MustParseAddrPort("10.1.2.3:4567")

var notifications = map[string]struct {
	bytes []byte
	want  Notification
}{
	"up": {
		message(AssocChange, 0, uint16(CommUp), uint16(0), uint16(10), uint16(11), uint32(7), []byte{1, 2}),
		Notification{Kind: AssocChange, State: CommUp, Out: 10, In: 11, Assoc: 7, Data: []byte{1, 2}},
	},
	"lost": {
		message(AssocChange, 0, uint16(CommLost), []byte{0, 12}, uint16(0), uint16(0), uint32(7)),
		Notification{Kind: AssocChange, State: CommLost, Error: 12, Assoc: 7, Data: []byte{}},
	},
	"path": {
		message(PeerAddrChange, 0, storage(peer), uint32(AddrUnreachable), uint32(3), uint32(8)),
		Notification{Kind: PeerAddrChange, State: AddrUnreachable, Error: 3, Addr: peer, Assoc: 8, Data: []byte{}},
	},
	"path of IPv6": {
		message(PeerAddrChange, 0, storage(netip.MustParseAddrPort("[fd00::1]:9")), uint32(AddrConfirmed), uint32(0), uint32(8)),
		Notification{Kind: PeerAddrChange, State: AddrConfirmed, Addr: netip.MustParseAddrPort("[fd00::1]:9"), Assoc: 8, Data: []byte{}},
	},
	"send failed": {
		message(SendFailed, 1, uint32(12), uint16(3), make([]byte, 30), uint32(9), []byte("message")),
		Notification{Kind: SendFailed, Flags: 1, Error: 12, Stream: 3, Assoc: 9, Data: []byte("message")},
	},
	"send failed, newer form": {
		message(SendFailedEvent, 0, uint32(12), uint16(3), make([]byte, 14), uint32(9), []byte("message")),
		Notification{Kind: SendFailedEvent, Error: 12, Stream: 3, Assoc: 9, Data: []byte("message")},
	},
	"remote error": {
		message(RemoteError, 0, []byte{0, 6, 0, 0}, uint32(5)),
		Notification{Kind: RemoteError, Error: 6, Assoc: 5, Data: []byte{}},
	},
	"shutdown":         {message(Shutdown, 0, uint32(4)), Notification{Kind: Shutdown, Assoc: 4, Data: []byte{}}},
	"partial delivery": {message(PartialDelivery, 0, uint32(0), uint32(4), uint32(2), uint32(1)), Notification{Kind: PartialDelivery, Assoc: 4, Stream: 2, Data: []byte{}}},
	"dry":              {message(SenderDry, 0, uint32(3)), Notification{Kind: SenderDry, Assoc: 3, Data: []byte{}}},
	"stream change":    {message(StreamChange, 0, uint32(3), uint16(20), uint16(30)), Notification{Kind: StreamChange, Assoc: 3, In: 20, Out: 30, Data: []byte{}}},
	"adaptation":       {message(Adaptation, 0, uint32(1), uint32(6)), Notification{Kind: Adaptation, Assoc: 6, Data: []byte{}}},
	"authentication":   {message(Authentication, 0, uint16(1), uint16(2), uint32(0), uint32(6)), Notification{Kind: Authentication, Assoc: 6, Data: []byte{}}},
	"association reset": {
		message(AssocReset, 0, uint32(6), uint32(1), uint32(2)), Notification{Kind: AssocReset, Assoc: 6, Data: []byte{}},
	},
}

func TestParseNotification(t *testing.T) {
	for name, tc := range notifications {
		got, err := ParseNotification(tc.bytes)
		require.NoError(t, err, name)
		assert.Equal(t, tc.want, got, name)
		for n := range tc.bytes { // cut anywhere, it says more than it has
			_, err := ParseNotification(tc.bytes[:n])
			assert.Error(t, err, "%s, %d bytes of it", name, n)
		}
	}
}

func TestStreamReset(t *testing.T) {
	n, err := ParseNotification(message(StreamReset, 1, uint32(6), uint16(4), uint16(9)))
	require.NoError(t, err)
	assert.Equal(t, AssocID(6), n.Assoc)
	assert.Len(t, n.Data, 4, "the numbers of two streams")
}

func TestNotificationsThatCanNotBe(t *testing.T) {
	_, err := ParseNotification(message(Kind(0x8123), 0, uint32(1)))
	assert.ErrorContains(t, err, "unknown kind 0x8123")
	b := message(SenderDry, 0, uint32(3))
	binary.NativeEndian.PutUint32(b[4:], 8)
	_, err = ParseNotification(b)
	assert.ErrorContains(t, err, "says that it has 8 bytes: want at least 12")
	binary.NativeEndian.PutUint32(b[4:], 1<<31)
	_, err = ParseNotification(b)
	assert.ErrorContains(t, err, "and have 12")
}

func FuzzNotification(f *testing.F) {
	for _, tc := range notifications {
		f.Add(tc.bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseNotification(b)
		if err != nil {
			return
		}
		if len(n.Data) > len(b) {
			t.Fatal("data out of nothing")
		}
	})
}

// A message is charged with at least its own size and, if it is not tiny, at most
// with three times that.
func TestCharge(t *testing.T) {
	assert.Positive(t, Charge(0, 1452))
	for _, size := range []int{1, 1452, 1453, 65536, 1 << 20} {
		for _, fragment := range []int{0, 500, 1452, 65488} {
			got := Charge(size, fragment)
			assert.Greater(t, got, size)
			if size > 1400 && fragment > 1400 {
				assert.Less(t, got, 3*size+2000, "%d bytes in chunks of %d", size, fragment)
			}
		}
	}
}
