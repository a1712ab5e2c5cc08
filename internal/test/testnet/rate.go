//go:build linux

package testnet

import (
	"github.com/vishvananda/netlink"
)

// limit lets the interface send at most so many Mbit/s, by a token bucket. The
// bucket holds 2 ms, and not less than what segmentation offload hands over at
// a time; the queue before it holds 20 ms more.
func (c *NIC) limit(mbits int) error {
	const perMbit = 1e6 / 8 // bytes/s
	rate := uint64(mbits) * perMbit
	burst := max(128<<10, uint32(rate/500))
	queue := max(256<<10, uint32(rate/50))
	err := c.host.kernel.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: c.index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       rate,
		Buffer:     netlink.Xmittime(rate, burst),
		Limit:      burst + queue,
	})
	c.speed = mbits
	return c.explain("token bucket", err)
}

// Rate changes what the link lets through in each direction, in Mbit/s.
func (l *Link) Rate(mbits int) {
	for _, nic := range l.ends() {
		nic.host.net.should(nic.limit(mbits))
	}
}
