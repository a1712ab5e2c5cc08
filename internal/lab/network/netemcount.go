//go:build linux

package network

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// stop reads what the disciplines have counted. They do not tell how many duplicates there were.
func (k *kernelJoint) stop(r *NetReport) error {
	defer k.kernel.Close()
	var errs []error
	if k.plug != nil {
		cut, err := k.plug.stop()
		r.Total.Cut += cut
		errs = append(errs, err)
	}
	for host, c := range k.cables {
		droppedOut, err := k.dropped(k.outs[host])
		errs = append(errs, err)
		lost, err := k.dropped(k.ins[host])
		errs = append(errs, err)
		droppedIn, err := k.dropped(c.index)
		errs = append(errs, err)
		l, err := k.kernel.LinkByIndex(c.index)
		if err != nil || l.Attrs().Statistics == nil {
			errs = append(errs, fmt.Errorf("host %d: what its cable has carried is not known: %w", host, err))
			continue
		}
		s := l.Attrs().Statistics
		r.Total.Sent += s.RxPackets
		r.Total.SentBytes += s.RxBytes
		r.Total.DroppedOut += droppedOut
		r.Total.Lost += lost
		r.Total.DroppedIn += droppedIn
		r.Total.Delivered += s.TxPackets
		r.Total.DeliveredBytes += s.TxBytes
	}
	r.Total.Lost -= min(r.Total.Cut, r.Total.Lost)
	return errors.Join(errs...)
}

// dropped is how many frames the root discipline of an interface has dropped.
func (k *kernelJoint) dropped(index int) (uint64, error) {
	l, err := k.kernel.LinkByIndex(index)
	if err != nil {
		return 0, err
	}
	all, err := k.kernel.QdiscList(l)
	if err != nil {
		return 0, fmt.Errorf("interface %s: disciplines: %w", l.Attrs().Name, err)
	}
	for _, q := range all {
		a := q.Attrs()
		if a.Parent == netlink.HANDLE_ROOT && a.Statistics != nil && a.Statistics.Queue != nil {
			return uint64(a.Statistics.Queue.Drops), nil
		}
	}
	return 0, nil
}
