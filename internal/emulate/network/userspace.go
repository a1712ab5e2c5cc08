//go:build linux

package network

import (
	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/emulate/wire"
	"github.com/strandmp/strand/internal/netspace"
)

// userSpace emulates by package wire.
type userSpace struct {
	net    *emulate.Switch
	engine *wire.Engine
}

func newUserSpace(c Config, core *netspace.Space, net *emulate.Switch, cables []cable) (joint, error) {
	u := &userSpace{net: net}
	indices := make([]int, len(cables))
	for i, k := range cables {
		indices[i] = k.index
	}
	err := core.Quick(func() (err error) {
		u.engine, err = wire.Start(wire.Config{Switch: net, Interfaces: indices, MTU: c.MTU, Memory: c.Memory})
		return netspace.Explain(err)
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (u *userSpace) stop(r *Report) (err error) {
	r.Wire, err = u.engine.Stop()
	for from := range u.net.Hosts() {
		for to := range u.net.Hosts() {
			if c := u.net.Counters(from, to); c.Sent > 0 {
				r.Total.Add(c)
				r.Paths = append(r.Paths, PathReport{from, to, c})
			}
		}
	}
	return err
}
