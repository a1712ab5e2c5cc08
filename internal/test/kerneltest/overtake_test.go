//go:build linux

package kerneltest_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Tags of overtake, on three different lanes (by the hash in package pml): that of
// the message whose packet is lost, and of two messages sent behind it. Three would
// be enough for SCTP to send the lost one again before its time.
const (
	lostTag = 1001
	nextTag = 1
	lastTag = 2
	doneTag = 3
)

// overtakeSize is that of the messages, in bytes: two do not share a packet.
const overtakeSize = 1000

// overtakeLine is what rank 1 tells when it has the second message.
const overtakeLine = "the second has come"

// overtake has rank 0 send three messages, of which a filter loses the first one's
// packet. Rank 1 receives the second by its tag and then one of any tag, and tells
// whether that of any tag was complete when the second was.
func overtake(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	if c.Rank() == 0 {
		if _, err := c.Recv(ctx, nil, 1, doneTag); err != nil {
			return err
		}
		for _, tag := range []int{lostTag, nextTag, lastTag} {
			if err := c.Send(ctx, make([]byte, overtakeSize), 1, tag); err != nil {
				return err
			}
		}
		_, err := c.Recv(ctx, nil, 1, doneTag)
		return err
	}
	next, err := c.Irecv(make([]byte, overtakeSize), 0, nextTag)
	if err != nil {
		return err
	}
	// Everything that fits this was sent after the lost message, or is that.
	some, err := c.Irecv(make([]byte, overtakeSize), 0, strand.AnyTag)
	if err != nil {
		return err
	}
	if err := c.Send(ctx, nil, 0, doneTag); err != nil {
		return err
	}
	if _, err := next.Wait(ctx); err != nil {
		return err
	}
	st, done, err := some.Test()
	fmt.Println(overtakeLine)
	if err == nil && !done {
		st, err = some.Wait(ctx)
	}
	if err != nil {
		return err
	}
	fmt.Printf("overtaken: %v; of any tag: %d\n", !done, st.Tag)
	if _, err := c.Recv(ctx, make([]byte, overtakeSize), 0, lastTag); err != nil {
		return err
	}
	return c.Send(ctx, nil, 0, doneTag)
}

// carriers are the packets that begin with an EAGER message of that tag (WIRE.md),
// perhaps behind an acknowledgement without gaps.
func carriers(tag uint32) []testnet.Pattern {
	const (
		common, sack  = 12, 16 // SCTP's header, and a SACK
		chunk, prefix = 16, 8  // header of a DATA chunk, and what is before a frame's header
		where         = 24     // the tag is in the frame's header
	)
	at := func(data int) testnet.Pattern {
		return testnet.Pattern{
			{Offset: data, Bytes: []byte{0}},                  // DATA
			{Offset: data + chunk + prefix, Bytes: []byte{1}}, // EAGER
			{Offset: data + chunk + prefix + where, Bytes: binary.LittleEndian.AppendUint32(nil, tag)},
		}
	}
	behind := append(testnet.Pattern{{Offset: common, Bytes: []byte{3, 0, 0, sack}}}, at(common+sack)...)
	return []testnet.Pattern{at(common), behind}
}

// One packet is lost, of which the receiver's filter makes sure. With ten streams
// a message of another tag is received before it comes again, with one stream it
// is not. The receive for any tag gets the lost message in both cases, since that
// was sent first.
func TestKernelOvertaking(t *testing.T) {
	for _, streams := range []int{10, 1} {
		n := testnet.New(t)
		a, b := n.Host("a"), n.Host("b")
		link := n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
		link.B.Lose(testnet.SCTP, true, carriers(lostTag)...)
		r := play(t, "overtake", []*testnet.Host{a, b}, fmt.Sprintf("STRAND_BTL_SCTP_STREAMS=%d", streams)).Run(t)
		require.NoError(t, r.Wait())
		require.Equal(t, 1, b.Lost(), "exactly that packet is lost")
		line := r.Await(1, "overtaken: ").Text
		assert.Equal(t, fmt.Sprintf("overtaken: %v; of any tag: %d", streams > 1, lostTag), line)
		t.Logf("%d streams: %s", streams, line)
	}
}
