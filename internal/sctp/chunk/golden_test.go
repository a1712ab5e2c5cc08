package chunk

import (
	"encoding/hex"
	"hash/crc32"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// only takes a packet apart that has one chunk.
func only(t testing.TB, packet string, zero bool) (Header, Chunk) {
	h, chunks, err := Parse(unhex(t, packet), zero)
	require.NoError(t, err)
	c, ok := chunks.Next()
	require.True(t, ok)
	require.True(t, chunks.Whole())
	return h, c
}

// Packets of pion/sctp v1.11.3, with I-DATA, between ports 5000.
const (
	pionInit      = "1388138800000000f7456e7b0100001c876bd26800100000ffffffff88d0719f8008000882c040c2"
	pionInitAck   = "13881388876bd26858420c2f02000040c86e2e4400100000ffffffff8c88172d00070024621e75246b903d38d0c175eab2422325cfc9d2479b0961b22066360e212aa3de8008000882c040c2"
	pionData      = "13881388c86e2e44ae98ccaf4003001988d0719f00030000000000000000003368656c6c6f0000004007002888d071a00004000000000000000000350000000000000000000000000000000000000000"
	pionSACK      = "13881388876bd26852fa14d00300001088d071a0000fffe700000000"
	pionAbort     = "13881388c86e2e44537345e10600000f000c000b6279652062796500"
	pionCookieAck = "13881388876bd268c45461640b000004"
	// The same without I-DATA, and with checksums left out.
	pionZeroInit = "138813880000000059ac4b3501000024325e4b7200100000ffffffffb0dbb4ab8008000682c000008001000800000001"
	pionZeroData = "1388138853678b8f0000000000070024b0dbb4ab0004000000000035000000000000000000000000000000000000000000030015b0dbb4ac000300000000003368656c6c6f000000"
)

func TestChecksum(t *testing.T) {
	assert.Equal(t, uint32(0xe3069283), crc32.Checksum([]byte("123456789"), castagnoli), "the check value of CRC32c")
	// RFC 3720, appendix B.4: 32 bytes of zeros. A packet's sum leaves the field for it out as zeros.
	packet := make([]byte, 32)
	packet[checksumAt] = 0xff
	assert.Equal(t, uint32(0x8a9136aa), Checksum(packet))
}

func TestInit(t *testing.T) {
	h, c := only(t, pionInit, false)
	assert.Equal(t, Header{Source: 5000, Destination: 5000}, h)
	assert.Equal(t, TypeInit, First(unhex(t, pionInit)))
	i, err := ParseInit(c)
	require.NoError(t, err)
	p, ok := i.Parameters.Next()
	require.True(t, ok)
	assert.Equal(t, uint16(ParamExtensions), p.Code)
	assert.Equal(t, []byte{0x82, 0xc0, 0x40, 0xc2}, p.Value)
	_, ok = i.Parameters.Next()
	assert.False(t, ok)
	assert.True(t, i.Parameters.Whole())
	i.Parameters = Fields{}
	assert.Equal(t, Init{Tag: 0x876bd268, Window: 1 << 20, Out: 65535, In: 65535, TSN: 0x88d0719f}, i)

	b, start := BeginInit(AppendHeader(nil, h), TypeInit, i)
	b = End(AppendField(b, p.Code, p.Value), start)
	Seal(b)
	assert.Equal(t, pionInit, hex.EncodeToString(b))
}

func TestInitAck(t *testing.T) {
	h, c := only(t, pionInitAck, false)
	i, err := ParseInit(c)
	require.NoError(t, err)
	cookie, _ := i.Parameters.Next()
	assert.Equal(t, uint16(ParamCookie), cookie.Code)
	extensions, _ := i.Parameters.Next()

	b, start := BeginInit(AppendHeader(nil, h), TypeInitAck, i)
	b = AppendField(b, ParamCookie, cookie.Value)
	b = End(AppendField(b, ParamExtensions, extensions.Value), start)
	Seal(b)
	assert.Equal(t, pionInitAck, hex.EncodeToString(b))
}

func TestData(t *testing.T) {
	h, chunks, err := Parse(unhex(t, pionData), false)
	require.NoError(t, err)
	b := AppendHeader(nil, h)
	for _, want := range []Data{
		{Interleaved: true, Flags: FlagBegin | FlagEnd, TSN: 0x88d0719f, Stream: 3, PPID: 51, Payload: []byte("hello")},
		{Interleaved: true, Flags: FlagBegin | FlagEnd | FlagUnordered, TSN: 0x88d071a0, Stream: 4, PPID: 53, Payload: make([]byte, 20)},
	} {
		c, ok := chunks.Next()
		require.True(t, ok)
		d, err := ParseData(c)
		require.NoError(t, err)
		assert.Equal(t, want, d)
		before := len(b)
		b = AppendData(b, &d, d.Payload[:3], d.Payload[3:])
		assert.Equal(t, d.Size(len(d.Payload)), len(b)-before)
	}
	Seal(b)
	assert.Equal(t, pionData, hex.EncodeToString(b))

	_, _, err = Parse(unhex(t, pionZeroData), false)
	assert.ErrorIs(t, err, ErrChecksum)
	h, chunks, err = Parse(unhex(t, pionZeroData), true)
	require.NoError(t, err)
	b = AppendHeader(nil, h)
	for range 2 {
		c, _ := chunks.Next()
		d, err := ParseData(c)
		require.NoError(t, err)
		b = AppendData(b, &d, d.Payload, nil)
	}
	assert.Equal(t, pionZeroData, hex.EncodeToString(b))
}

func TestSACK(t *testing.T) {
	h, c := only(t, pionSACK, false)
	s, err := ParseSACK(c)
	require.NoError(t, err)
	assert.Equal(t, SACK{Cumulative: 0x88d071a0, Window: 0xfffe7, gaps: []byte{}, dups: []byte{}}, s)
	b := AppendSACK(AppendHeader(nil, h), s.Cumulative, s.Window, nil, nil)
	Seal(b)
	assert.Equal(t, pionSACK, hex.EncodeToString(b))
}

func TestSmallOnes(t *testing.T) {
	h, c := only(t, pionAbort, false)
	causes := Causes(c)
	f, ok := causes.Next()
	require.True(t, ok)
	assert.Equal(t, uint16(CauseUser), f.Code)
	assert.Equal(t, "bye bye", string(f.Value))
	b, start := Begin(AppendHeader(nil, h), TypeAbort, 0)
	b = End(AppendField(b, CauseUser, []byte("bye bye")), start)
	Seal(b)
	assert.Equal(t, pionAbort, hex.EncodeToString(b))

	h, c = only(t, pionCookieAck, false)
	assert.Equal(t, TypeCookieAck, c.Type)
	b = Append(AppendHeader(nil, h), c.Type, 0, nil)
	Seal(b)
	assert.Equal(t, pionCookieAck, hex.EncodeToString(b))
}

func TestZeroChecksumParameter(t *testing.T) {
	_, c := only(t, pionZeroInit, false)
	i, err := ParseInit(c)
	require.NoError(t, err)
	i.Parameters.Next()
	f, ok := i.Parameters.Next()
	require.True(t, ok)
	assert.Equal(t, uint16(ParamZeroChecksum), f.Code)
	n, ok := f.Number()
	assert.True(t, ok)
	assert.Equal(t, uint32(1), n)
	assert.Equal(t, f.Raw, AppendNumberField(nil, ParamZeroChecksum, 1))
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1":        "00050008c0000201",
		"::ffff:192.0.2.1": "00050008c0000201",
		"2001:db8::1":      "0006001420010db8000000000000000000000001",
	} {
		a := netip.MustParseAddr(text)
		b := AppendAddress(nil, a)
		assert.Equal(t, want, hex.EncodeToString(b))
		f, ok := (&Fields{b}).Next()
		require.True(t, ok)
		got, ok := f.Address()
		assert.True(t, ok)
		assert.Equal(t, a.Unmap(), got)
	}
}
