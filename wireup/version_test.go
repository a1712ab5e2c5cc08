package wireup

import (
	"crypto/sha256"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process of this job that speaks another version is told ours, and then left its place until it
// has heard that: who ends a connection at once may take back what it has said.
func TestOtherVersionIsToldOurs(t *testing.T) {
	h, m := newPorch(t)
	job := sha256.Sum256([]byte(h.Job()))
	hello := make([]byte, 108)
	copy(hello, "STRD\x01\x00")
	copy(hello[8:], job[:16])
	for name, end := range map[string]func(*Pending){
		"it has heard": func(p *Pending) { p.Ended(io.EOF) },
		"it goes on":   func(p *Pending) { p.Take(hello); h.Clock.Advance(time.Second) },
	} {
		l := new(doorway)
		p := m.Came(l, netip.AddrPort{})
		p.Take(hello)
		require.Equal(t, "STRA\x02\x00", string(l.said[:6]), name)
		require.False(t, l.aborted, name)
		require.Equal(t, 1, m.Count(), name)
		end(p)
		require.True(t, l.aborted, name)
		require.Zero(t, m.Count(), name)
		require.Len(t, l.said, 72, "once")
	}
	require.Contains(t, strings.Join(h.Lines(), "\n"), "theirs is 1, ours 2")
}
