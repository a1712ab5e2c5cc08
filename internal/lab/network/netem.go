//go:build linux

package network

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/wire"
)

// kernelJoint emulates by the kernel's queueing disciplines, which act on what an interface
// sends. Frames must meet them in the order that package emulate has. And none may be in the host
// itself, where TCP would see its queue. So each host has a bridge and a second pair of veths
// between its cable and the hub:
//
//	eth0 ─ cable ═ bridge ═ out ─▶ in ═ hub ═ in ─▶ out ═ bridge ═ cable ─▶ eth0
//	                         │rate                 │netem           │rate
//
// All of it is in the core, and goes with it.
type kernelJoint struct {
	core   *netspace.Space
	kernel *netlink.Handle
	link   emulate.Link
	cables []cable
	outs   []int // interfaces, by host
	ins    []int
	plug   *plug // nil if the network is always up
}

func newNetem(f *fabric) (_ joint, err error) {
	k := &kernelJoint{core: f.core, link: f.net.Link, cables: f.cables}
	if k.kernel, err = f.core.Netlink(); err != nil {
		return nil, err
	}
	if err := k.build(f.mtu); err != nil {
		k.kernel.Close()
		return nil, fmt.Errorf("netem: %w", netspace.Explain(err))
	}
	if len(f.net.Down.Outages) > 0 {
		if k.plug, err = k.pull(f.net.Down); err != nil {
			k.kernel.Close()
			return nil, fmt.Errorf("netem: %w", err)
		}
	}
	return k, nil
}

func (k *kernelJoint) build(mtu int) error {
	hub, err := addBridge(k.kernel, "hub", mtu)
	if err != nil {
		return err
	}
	for i, c := range k.cables {
		if err := k.trunk(i, c, hub, mtu); err != nil {
			return fmt.Errorf("host %d: %w", i, err)
		}
	}
	return nil
}

// trunk joins a host's cable to the hub.
func (k *kernelJoint) trunk(host int, c cable, hub, mtu int) error {
	out, in := fmt.Sprintf("out%d", host), fmt.Sprintf("in%d", host)
	if err := addPair(k.core, k.kernel, out, in, mtu); err != nil {
		return err
	}
	bridge, err := addBridge(k.kernel, fmt.Sprintf("bridge%d", host), mtu)
	if err != nil {
		return err
	}
	index := make(map[string]int)
	for name, master := range map[string]int{c.name: bridge, out: bridge, in: hub} {
		l, err := k.kernel.LinkByName(name)
		if err != nil {
			return err
		}
		if err := errors.Join(k.kernel.LinkSetMasterByIndex(l, master), k.kernel.LinkSetUp(l)); err != nil {
			return fmt.Errorf("interface %s: %w", name, err)
		}
		index[name] = l.Attrs().Index
	}
	k.outs, k.ins = append(k.outs, index[out]), append(k.ins, index[in])
	// The hub is told where the host is, so that it need not find out by flooding.
	err = k.kernel.NeighSet(&netlink.Neigh{
		LinkIndex: index[in], Family: unix.AF_BRIDGE, State: netlink.NUD_NOARP, Flags: netlink.NTF_MASTER,
		HardwareAddr: wire.HardwareAddr(host),
	})
	if err != nil {
		return fmt.Errorf("where host %d is: %w", host, err)
	}
	return errors.Join(
		addRate(k.kernel, index[out], k.link.NIC, mtu), addNetem(k.kernel, index[in], k.link.Path), addRate(k.kernel, c.index, k.link.NIC, mtu))
}

// addBridge makes a bridge that forwards and does nothing else.
func addBridge(kernel *netlink.Handle, name string, mtu int) (index int, err error) {
	snooping := false
	b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: mtu, TxQLen: -1}, MulticastSnooping: &snooping}
	if err := kernel.LinkAdd(b); err != nil {
		return 0, fmt.Errorf("bridge %s: %w", name, err)
	}
	l, err := kernel.LinkByName(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().Index, kernel.LinkSetUp(l)
}

// addPair makes a pair of veths in the core.
func addPair(core *netspace.Space, kernel *netlink.Handle, a, b string, mtu int) error {
	attrs := netlink.LinkAttrs{Name: a, MTU: mtu, TxQLen: -1}
	if err := kernel.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: b, PeerMTU: uint32(mtu), PeerTxQLen: -1}); err != nil {
		return fmt.Errorf("veth %s: %w", a, err)
	}
	return core.Quick(func() error { return errors.Join(withoutOffloads(a), withoutOffloads(b)) })
}

// rootHandle is the discipline of an interface.
var rootHandle = netlink.MakeHandle(1, 0)

// Bounds of a token bucket: what may be sent at once after a pause. It makes up for a timer that
// comes a little late.
const (
	bucketTime   = 2 * time.Millisecond
	bucketFrames = 2
)

// addRate lets an interface send at the rate of a NIC, behind its queue. Where the queue is
// bounded in frames, netem does that: it decides when a frame leaves as soon as the frame comes,
// as package emulate does, so a late timer costs no rate. Netem has no bound in bytes, so there a
// token bucket does it.
func addRate(kernel *netlink.Handle, index int, nic emulate.NIC, mtu int) error {
	if nic.Rate == 0 {
		return nil
	}
	attrs := netlink.QdiscAttrs{LinkIndex: index, Handle: rootHandle, Parent: netlink.HANDLE_ROOT}
	perSecond := bytesPerSecond(nic.Rate)
	var discipline netlink.Qdisc
	if nic.Queue.Bytes > 0 {
		bucket := max(uint32(float64(perSecond)*bucketTime.Seconds()), uint32(bucketFrames*(mtu+emulate.EthernetHeader)))
		limit := uint32(min(uint64(nic.Queue.Bytes), math.MaxUint32))
		discipline = &netlink.Tbf{QdiscAttrs: attrs, Rate: perSecond, Buffer: netlink.Xmittime(perSecond, bucket), Limit: limit}
	} else {
		discipline = netlink.NewNetem(attrs, netlink.NetemQdiscAttrs{Rate64: perSecond, Limit: uint32(nic.Queue.OrDefault().Frames)})
	}
	if err := kernel.QdiscReplace(discipline); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	return nil
}

// bytesPerSecond is a rate as the kernel's disciplines have it.
func bytesPerSecond(r emulate.Rate) uint64 { return uint64(r) / 8 }

// manyFrames is more than are ever on their way: queues are bounded elsewhere.
const manyFrames = 1 << 24

// addNetem has an interface do to the frames that it sends what a path does to them.
func addNetem(kernel *netlink.Handle, index int, p emulate.Path) error {
	err := kernel.QdiscReplace(netlink.NewNetem(
		netlink.QdiscAttrs{LinkIndex: index, Handle: rootHandle, Parent: netlink.HANDLE_ROOT},
		netlink.NetemQdiscAttrs{
			Latency: uint32(p.Delay.Round(time.Microsecond).Microseconds()), Limit: manyFrames,
			Loss: float32(p.Loss.Good * 100), Duplicate: float32(p.Duplicate * 100),
		}))
	if err != nil {
		return fmt.Errorf("netem: %w", err)
	}
	return nil
}

// netemWorks tries all that the backend needs of a kernel.
func netemWorks(core *netspace.Space, kernel *netlink.Handle, nic emulate.NIC) error {
	nic.Rate = max(nic.Rate, emulate.Mbit)
	const near, far, bridge = "probe0", "probe1", "probe2"
	why := func() error {
		if _, err := addBridge(kernel, bridge, DefaultMTU); err != nil {
			return err
		}
		if err := addPair(core, kernel, near, far, DefaultMTU); err != nil {
			return err
		}
		a, err := kernel.LinkByName(near)
		if err != nil {
			return err
		}
		b, err := kernel.LinkByName(far)
		if err != nil {
			return err
		}
		return errors.Join(addNetem(kernel, a.Attrs().Index, emulate.Path{}), addRate(kernel, b.Attrs().Index, nic, DefaultMTU))
	}()
	for _, name := range []string{near, bridge} {
		if l, err := kernel.LinkByName(name); err == nil {
			if err := kernel.LinkDel(l); err != nil {
				return err
			}
		}
	}
	if why != nil {
		return &NetemError{"this kernel has not all that it takes: " + strings.ReplaceAll(why.Error(), "\n", "; ")}
	}
	return nil
}
