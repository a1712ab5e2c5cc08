package userstack

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// A cookie is all that there is of an association before the peer has shown that
// it receives at the address it claims: it holds both openings, and is the peer's
// to keep. The key is the stack's own; nobody else reads a cookie.
//
//	 0  8  when it was made, by the loop's clock
//	 8 17  the peer's opening: tag, window, streams out and in, TSN, interleaving
//	25  8  our tag and TSN
//	33 16  proof over all before it, and over the peer's address
const (
	cookieBody = 33
	cookieSize = cookieBody + 16
	cookieLife = 60 * time.Second // RFC 9260, 16
)

var errCookie = errors.New("SCTP cookie that is not ours, or too old")

// A baker makes and knows cookies.
type baker struct{ key [32]byte }

func newBaker() *baker {
	k := new(baker)
	rand.Read(k.key[:])
	return k
}

func (k *baker) proof(body []byte, from netip.AddrPort) []byte {
	mac := hmac.New(sha256.New, k.key[:])
	mac.Write(body)
	addr := from.Addr().As16()
	mac.Write(addr[:])
	mac.Write(binary.BigEndian.AppendUint16(nil, from.Port()))
	return mac.Sum(nil)[:cookieSize-cookieBody]
}

func (k *baker) bake(now int64, from netip.AddrPort, theirs, ours *opening) []byte {
	be := binary.BigEndian
	b := make([]byte, 0, cookieSize)
	b = be.AppendUint64(b, uint64(now))
	b = be.AppendUint32(b, theirs.tag)
	b = be.AppendUint32(b, theirs.window)
	b = be.AppendUint16(b, theirs.out)
	b = be.AppendUint16(b, theirs.in)
	b = be.AppendUint32(b, theirs.tsn)
	interleave := byte(0)
	if theirs.interleave {
		interleave = 1
	}
	b = append(b, interleave)
	b = be.AppendUint32(b, ours.tag)
	b = be.AppendUint32(b, ours.tsn)
	return append(b, k.proof(b, from)...)
}

// open returns what is in a cookie that we have made for that address not long
// ago.
func (k *baker) open(b []byte, now int64, from netip.AddrPort) (theirs *opening, tag, tsn uint32, err error) {
	if len(b) != cookieSize || !hmac.Equal(b[cookieBody:], k.proof(b[:cookieBody], from)) {
		return nil, 0, 0, errCookie
	}
	be := binary.BigEndian
	if age := now - int64(be.Uint64(b)); age < 0 || age > int64(cookieLife) {
		return nil, 0, 0, errCookie
	}
	theirs = &opening{tag: be.Uint32(b[8:]), window: be.Uint32(b[12:]), out: be.Uint16(b[16:]), in: be.Uint16(b[18:]),
		tsn: be.Uint32(b[20:]), interleave: b[24] == 1}
	return theirs, be.Uint32(b[25:]), be.Uint32(b[29:]), nil
}
