package sctp

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/param"
)

func TestMistakesInParameters(t *testing.T) {
	for name, test := range map[string]struct {
		settings []param.Setting
		want     []string
	}{
		"no streams":           {[]param.Setting{with(pStreams, "0")}, []string{pStreams, "0", "test", "1"}},
		"too many streams":     {[]param.Setting{with(pStreams, "70000")}, []string{pStreams, "70000", "test", "65534"}},
		"small receive buffer": {[]param.Setting{with(pRcvbuf, "100K")}, []string{pRcvbuf + "=100K", pStreams, pMaxFrame, "at least"}},
		"times":                {[]param.Setting{with(pRTOMin, "2s"), with(pRTOMax, "1s")}, []string{pRTOMin + "=2s", pRTOMax + "=1s"}},
		"time below the usual": {[]param.Setting{with(pRTOMin, "2m")}, []string{pRTOMin + "=2m from test is above 1m0s", pRTOMax + " is 0"}},
		"range without start":  {[]param.Setting{with(pPortRange, "5")}, []string{pPortRange, pPortMin}},
		"include and exclude":  {[]param.Setting{with(pExclude, "eth9")}, []string{pInclude, pExclude + "=eth9", "exclude each other"}},
		"places":               {[]param.Setting{with(pPriorities, "1,x"), with(pScheduler, "prio")}, []string{pPriorities + "=1,x from test", `"x"`, "0 to 65535"}},
		"places without prio":  {[]param.Setting{with(pPriorities, "1,2")}, []string{pPriorities + "=1,2", pScheduler + "=auto", "prio and wfq"}},
		"weight":               {[]param.Setting{with(pPriorities, "3,0"), with(pScheduler, "wfq")}, []string{pPriorities + "=3,0 from test", "1 to 65535"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryNode(t, 0, test.settings...)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			_, unavailable := errors.AsType[*btl.UnavailableError](err)
			require.False(t, unavailable, "a mistake ends the start-up")
		})
	}
}

// A peer with fewer streams decides, and is said once.
func TestFewerStreams(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0, with(pStreams, "10")), newNode(t, 1, with(pStreams, "3"))
	join(t, a, b)
	require.Equal(t, 3, a.ep.(*endpoint).sender.streams)
	require.Equal(t, 3, b.ep.(*endpoint).sender.streams)
	for lane := range 10 {
		a.send("frame", lane, b)
		b.send("frame", lane, a)
	}
	await(t, "all frames", func() bool { return len(a.frames) == 10 && len(b.frames) == 10 }, a, b)
	require.Len(t, a.logged("3 streams instead of the 10 asked for"), 1)
	require.Empty(t, b.logged("streams instead of"))
}

// A peer that is not there any more is noticed by the answer of its system.
func TestNobodyThere(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0, with(pConnectRetries, "1")), newNode(t, 1)
	address := b.mod.Address()
	b.do(func() { _ = b.mod.Close() })
	a.do(func() {
		peer := btl.Peer{Rank: 1, Address: address}
		paths, err := a.mod.Reach(peer)
		require.NoError(t, err)
		a.ep, err = a.mod.Connect(peer, paths[0], a)
		require.NoError(t, err)
		require.Equal(t, btl.Busy, a.ep.Send(frame("first"), 0))
	})
	await(t, "the failure", func() bool { return len(a.downs) > 0 }, a)
	var failure *btl.ConnError
	require.ErrorAs(t, a.downs[0], &failure)
	require.Equal(t, []any{0, 1, "connecting"}, []any{failure.Rank, failure.Peer, failure.Phase})
	require.Equal(t, btl.Broken, a.ep.Send(frame("second"), 0))
}

// Ranks with different stacks can not talk, and the error says what to do.
func TestOtherStack(t *testing.T) {
	a, b := newNode(t, 0), newNode(t, 1)
	theirs := append([]byte(nil), b.mod.Address()...)
	theirs[0] = overIP
	_, err := a.mod.Reach(btl.Peer{Rank: 1, Host: "far", Address: theirs})
	for _, want := range []string{"rank 1 on far", "kernel stack", "user stack", pStack + "=user"} {
		require.ErrorContains(t, err, want)
	}
	c := newNode(t, 2, with(pEncapPort, "9899"))
	_, err = c.mod.Reach(btl.Peer{Rank: 1, Host: "far", Address: theirs})
	require.ErrorContains(t, err, pPortMin+"=5000")
	theirs[0] = 7
	_, err = a.mod.Reach(btl.Peer{Rank: 1, Host: "far", Address: theirs})
	require.ErrorIs(t, err, errAddress)
}

// Frames are short enough for one on each stream to be half arrived, where so much may be
// under way.
func TestFramesFitIntoTheWindow(t *testing.T) {
	require.Equal(t, 64<<10, newNode(t, 0).mod.Attr().MaxFrame)
	n := newNode(t, 0, with(pMaxFrame, "1M"), with(pOutstanding, "16M"))
	require.LessOrEqual(t, 12*(n.mod.Attr().MaxFrame+prefixSize+maxHeader), 4<<20)
	require.Greater(t, n.mod.Attr().MaxFrame, 256<<10)
}
