package sctp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"
)

// A cookie is all that has to be known to make an association. A stranger keeps it for us (RFC 9260,
// section 5.1.3). It is not secret.
type cookie struct {
	made, life   int64 // by our clock
	tag, peerTag uint32
	tie          uint64 // of the association that there was; 0: none
	tsn, peerTSN uint32
	window       uint32     // the peer's
	out, in      uint16     // streams
	port         uint16     // of the peer's SCTP
	flags, held  uint8      // held: ms, of the peer
	local        netip.Addr // where its INIT came to,
	from         netip.AddrPort
	further      addresses // of the peer
}

const (
	cookieInterleave = 1 << iota
	cookieZeroIn     // the peer was told that we take packets without a checksum
	cookieZeroOut    // the peer takes them
)

const (
	macSize     = 16
	cookieFixed = 8 + 8 + 4 + 4 + 8 + 4 + 4 + 4 + 2 + 2 + 2 + 1 + 1
	// keyLife is how long a key is used. It is good for as long again.
	keyLife = int64(time.Hour)
)

// addresses are a few.
type addresses struct {
	list  [mostAddresses]netip.Addr
	count int
}

// mostAddresses bounds what is kept of a peer's addresses.
const mostAddresses = 16

func (a *addresses) all() []netip.Addr { return a.list[:a.count] }

func (a *addresses) add(addr netip.Addr) {
	for _, had := range a.all() {
		if had == addr {
			return
		}
	}
	if a.count < mostAddresses {
		a.list[a.count] = addr
		a.count++
	}
}

// keys authenticate cookies.
type keys struct {
	now, before hash.Hash
	random      func() uint64
	renewAt     int64
	sum         [sha256.Size]byte
}

// renew makes a new key if the present one is old.
func (k *keys) renew(now int64) {
	if k.now != nil && now < k.renewAt {
		return
	}
	var key [32]byte
	for i := 0; i < len(key); i += 8 {
		binary.BigEndian.PutUint64(key[i:], k.random())
	}
	k.before, k.now = k.now, hmac.New(sha256.New, key[:])
	k.renewAt = now + keyLife
}

func (k *keys) mac(h hash.Hash, b []byte) []byte {
	h.Reset()
	h.Write(b)
	return h.Sum(k.sum[:0])[:macSize]
}

// appendTo appends the cookie, with what authenticates it.
func (k *keys) seal(now int64, b []byte, c *cookie) []byte {
	k.renew(now)
	start := len(b)
	b = c.appendTo(b)
	return append(b, k.mac(k.now, b[start:])...)
}

// open reads a cookie that we have made.
func (k *keys) open(now int64, b []byte) (c cookie, ok bool) {
	k.renew(now)
	if len(b) < macSize {
		return cookie{}, false
	}
	b, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	ok = hmac.Equal(k.mac(k.now, b), mac)
	if !ok && k.before != nil {
		ok = hmac.Equal(k.mac(k.before, b), mac)
	}
	return c, ok && c.parse(b)
}

func (k *cookie) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(k.made))
	b = binary.BigEndian.AppendUint64(b, uint64(k.life))
	b = binary.BigEndian.AppendUint32(b, k.tag)
	b = binary.BigEndian.AppendUint32(b, k.peerTag)
	b = binary.BigEndian.AppendUint64(b, k.tie)
	b = binary.BigEndian.AppendUint32(b, k.tsn)
	b = binary.BigEndian.AppendUint32(b, k.peerTSN)
	b = binary.BigEndian.AppendUint32(b, k.window)
	b = binary.BigEndian.AppendUint16(b, k.out)
	b = binary.BigEndian.AppendUint16(b, k.in)
	b = binary.BigEndian.AppendUint16(b, k.port)
	b = append(b, k.flags, k.held)
	b = appendAddr(b, k.local)
	b = appendAddr(b, k.from.Addr())
	b = binary.BigEndian.AppendUint16(b, k.from.Port())
	for _, a := range k.further.all() {
		b = appendAddr(b, a)
	}
	return b
}

func (k *cookie) parse(b []byte) bool {
	if len(b) < cookieFixed {
		return false
	}
	k.made, k.life = int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
	k.tag, k.peerTag = binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	k.tie = binary.BigEndian.Uint64(b[24:])
	k.tsn, k.peerTSN = binary.BigEndian.Uint32(b[32:]), binary.BigEndian.Uint32(b[36:])
	k.window = binary.BigEndian.Uint32(b[40:])
	k.out, k.in, k.port = binary.BigEndian.Uint16(b[44:]), binary.BigEndian.Uint16(b[46:]), binary.BigEndian.Uint16(b[48:])
	k.flags, k.held = b[50], b[51]
	b = b[cookieFixed:]
	var from netip.Addr
	var ok bool
	if k.local, b, ok = cutAddr(b); !ok {
		return false
	}
	if from, b, ok = cutAddr(b); !ok || len(b) < 2 {
		return false
	}
	k.from = netip.AddrPortFrom(from, binary.BigEndian.Uint16(b))
	for b = b[2:]; len(b) > 0; {
		var a netip.Addr
		if a, b, ok = cutAddr(b); !ok {
			return false
		}
		k.further.add(a)
	}
	return true
}

// appendAddr appends an address with its zone, behind the lengths of both.
func appendAddr(b []byte, a netip.Addr) []byte {
	zone := a.Zone()
	if len(zone) > maxZone {
		zone = zone[:maxZone]
	}
	switch {
	case a.Is4():
		v := a.As4()
		b = append(append(b, 4, 0), v[:]...)
	case a.Is6():
		v := a.As16()
		b = append(append(b, 16, uint8(len(zone))), v[:]...)
		b = append(b, zone...)
	default:
		b = append(b, 0, 0)
	}
	return b
}

const maxZone = 32

func cutAddr(b []byte) (a netip.Addr, rest []byte, ok bool) {
	if len(b) < 2 || len(b) < 2+int(b[0])+int(b[1]) {
		return a, nil, false
	}
	n, zone := int(b[0]), int(b[1])
	if a, ok = netip.AddrFromSlice(b[2 : 2+n]); !ok {
		return a, b[2+n+zone:], n == 0
	}
	if zone > 0 {
		a = a.WithZone(string(b[2+n : 2+n+zone]))
	}
	return a, b[2+n+zone:], true
}
