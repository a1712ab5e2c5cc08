package userstack

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"time"
)

// A cookie is all that there is of an association before the peer has shown that it
// receives at the address it claims. It holds the peer's opening, and the peer keeps it.
// Only this stack has the key and can check a cookie. A cookie goes to whatever address
// has asked, so it is short: our tag is in the packet that brings it back, and our first
// TSN comes from the proof.
//
//	 0  2  when it was made, in seconds by the loop's clock; the highest bit: the peer interleaves
//	 2 14  the peer's opening: tag, TSN, streams out and in, window in KB
//	16  8  proof over all before it, over the peer's address, and over our tag
const (
	cookieBody = 16
	cookieSize = cookieBody + 8
	cookieLife = 60 * time.Second // RFC 9260, 16
	interleave = 1 << 15
)

var errCookie = errors.New("SCTP cookie that is not ours, or too old")

// A baker makes and knows cookies.
type baker struct{ key [32]byte }

func newBaker() *baker {
	k := new(baker)
	rand.Read(k.key[:])
	return k
}

// proof returns a cookie's last bytes and our first TSN that goes with them. Without the key
// nobody can know either beforehand.
func (k *baker) proof(body []byte, from netip.AddrPort, tag uint32) (proof []byte, tsn uint32) {
	mac := hmac.New(sha256.New, k.key[:])
	mac.Write(body)
	addr := from.Addr().As16()
	mac.Write(addr[:])
	mac.Write(binary.BigEndian.AppendUint16(nil, from.Port()))
	mac.Write(binary.BigEndian.AppendUint32(nil, tag))
	sum := mac.Sum(nil)
	return sum[:cookieSize-cookieBody], binary.BigEndian.Uint32(sum[cookieSize-cookieBody:])
}

// seconds are a cookie's clock.
func seconds(now int64) uint16 { return uint16(now/int64(time.Second)) &^ interleave }

// bake makes the cookie of an association with the given tag of ours, and returns the TSN that we
// have to begin with.
func (k *baker) bake(now int64, from netip.AddrPort, theirs *opening, tag uint32) (cookie []byte, tsn uint32) {
	be := binary.BigEndian
	when := seconds(now)
	if theirs.interleave {
		when |= interleave
	}
	b := be.AppendUint16(make([]byte, 0, cookieSize), when)
	b = be.AppendUint32(b, theirs.tag)
	b = be.AppendUint32(b, theirs.tsn)
	b = be.AppendUint16(b, theirs.out)
	b = be.AppendUint16(b, theirs.in)
	b = be.AppendUint16(b, uint16(min(theirs.window>>10, math.MaxUint16)))
	proof, tsn := k.proof(b, from, tag)
	return append(b, proof...), tsn
}

// open returns what is in a cookie. It refuses one that we did not make for that address and
// that tag of ours, or that is too old.
func (k *baker) open(b []byte, now int64, from netip.AddrPort, tag uint32) (theirs *opening, tsn uint32, err error) {
	if len(b) != cookieSize {
		return nil, 0, errCookie
	}
	proof, tsn := k.proof(b[:cookieBody], from, tag)
	be := binary.BigEndian
	when := be.Uint16(b)
	age := (seconds(now) - when) &^ interleave
	if !hmac.Equal(b[cookieBody:], proof) || time.Duration(age)*time.Second > cookieLife {
		return nil, 0, errCookie
	}
	theirs = &opening{tag: be.Uint32(b[2:]), tsn: be.Uint32(b[6:]), out: be.Uint16(b[10:]), in: be.Uint16(b[12:]),
		window: max(uint32(be.Uint16(b[14:]))<<10, leastWindow), interleave: when&interleave != 0}
	return theirs, tsn, nil
}
