//go:build linux

package network

import (
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/wire"
)

// userSpace emulates by package wire.
type userSpace struct {
	on     []int // hosts, by ports
	net    *emulate.Switch
	engine *wire.Engine
}

func newUserSpace(f *fabric) (joint, error) {
	net, err := emulate.New(f.conditions)
	if err != nil {
		return nil, err
	}
	u := &userSpace{on: f.net.On, net: net}
	indices := make([]int, len(f.cables))
	for i, k := range f.cables {
		indices[i] = k.index
	}
	err = f.core.Quick(func() (err error) {
		u.engine, err = wire.Start(wire.Config{Switch: net, Interfaces: indices, MTU: f.mtu, Memory: f.memory})
		return netspace.Explain(err)
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (u *userSpace) stop(r *NetReport) (err error) {
	r.Wire, err = u.engine.Stop()
	for from := range u.net.Hosts() {
		for to := range u.net.Hosts() {
			if c := u.net.Counters(from, to); c.Sent > 0 {
				r.Total.Add(c)
				r.Paths = append(r.Paths, PathReport{u.on[from], u.on[to], c})
			}
		}
	}
	return err
}
