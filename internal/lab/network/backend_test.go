//go:build linux

package network

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// Netem counts whole bytes a second, and takes 0 of them for no limit. So a rate that it can not
// express exactly is not left to it.
func TestRatesThatNetemWouldRound(t *testing.T) {
	for rate, exact := range map[emulate.Rate]bool{
		0: true, 1: false, 7: false, 8: true, 9: false, 16: true, 7999: false, 8001: true, emulate.Gbit: true,
	} {
		c := Net{Link: emulate.Link{NIC: emulate.NIC{Rate: rate}}}
		assert.Equal(t, exact, c.expressible() == nil, "%v", rate)
		perSecond := bytesPerSecond(rate)
		assert.Equal(t, rate == 0, exact && perSecond == 0, "%v", rate)
	}
}
