package sctp

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// Within a host, too, the stack is told which of our addresses was chosen. The first one of the host may be a link-local one, from which
// the system finds no way to an address of another interface.
func TestRouteWithinAHost(t *testing.T) {
	at := reach.Address{Prefix: netip.MustParsePrefix("fd00::1/64"), Interface: "eth1", Index: 2}
	p := wireup.Pair{Pair: reach.Pair{Local: at, Remote: at, Loopback: true}, Port: 9}
	s := new(module).forStack(&route{Pair: p, pairs: []wireup.Pair{p}})
	assert.Equal(t, at.Addr(), s.Pairs[0].Local)
}
