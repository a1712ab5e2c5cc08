//go:build linux

package kerneltest_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/testnet"
)

// userCarriers are the packets of the user stack that begin with an EAGER message of
// that tag (WIRE.md), in UDP and an I-DATA chunk. An acknowledgement may stand before it: without
// gaps, or with some.
func userCarriers(tag uint32) []testnet.Pattern {
	const (
		data          = 8 + 12 // behind the headers of UDP and SCTP
		chunk, prefix = 20, 8  // header of an I-DATA chunk, and what is before a frame's header
		where         = 24     // the tag is in the frame's header
	)
	at := func(data int) testnet.Pattern {
		return testnet.Pattern{
			{Offset: data, Bytes: []byte{64}},                 // I-DATA
			{Offset: data + chunk + prefix, Bytes: []byte{1}}, // EAGER
			{Offset: data + chunk + prefix + where, Bytes: binary.LittleEndian.AppendUint32(nil, tag)},
		}
	}
	patterns := []testnet.Pattern{at(data)}
	for gaps := range 4 {
		patterns = append(patterns, at(data+16+4*gaps))
	}
	return patterns
}

// Over the user stack a message of another tag is received, with ten streams, while
// every packet of the one before it is lost, and is not with one stream. The receive
// for any tag gets the lost message in both cases.
func TestUserOvertaking(t *testing.T) {
	for _, streams := range []int{10, 1} {
		t.Run(fmt.Sprintf("%d streams", streams), func(t *testing.T) { testUserOvertaking(t, streams) })
	}
}

func testUserOvertaking(t *testing.T, streams int) {
	n := testnet.New(t)
	a, b := n.Host("a"), n.Host("b")
	link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	link.B.Lose(testnet.UDP, false, userCarriers(lostTag)...)
	r := playOver("user", "overtake", []*testnet.Host{a, b}, fmt.Sprintf("STRAND_BTL_SCTP_STREAMS=%d", streams)).Start(t)
	if streams > 1 {
		r.Await(1, overtakeLine)
		require.Positive(t, b.Lost())
	} else {
		const repeated = 2
		for b.Lost() < repeated {
			pause(10 * time.Millisecond)
		}
		for _, line := range r.Lines(1) {
			require.NotContains(t, line.Text, overtakeLine)
		}
	}
	link.B.Lose(testnet.UDP, false)
	require.NoError(t, r.Wait())
	line := r.Await(1, "overtaken: ").Text
	assert.Equal(t, fmt.Sprintf("overtaken: %v; of any tag: %d", streams > 1, lostTag), line)
	t.Logf("%d streams: %s", streams, line)
}
