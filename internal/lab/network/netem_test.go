//go:build linux

package network_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// byNetem is build by the kernel's means.
func byNetem(t *testing.T, c network.Config) (*network.Network, func() network.Report) {
	t.Helper()
	testnet.New(t) // or skip
	c.Backend = network.Netem
	n, err := network.New(network.Config{Hosts: 1, Backend: network.Netem})
	if missing, ok := errors.AsType[*network.NetemError](err); ok {
		need.KernelNetem(t, missing)
	}
	require.NoError(t, err)
	_, err = n.Close()
	require.NoError(t, err)
	return build(t, c)
}

func TestKernelNetemData(t *testing.T) {
	n, end := byNetem(t, network.Config{Hosts: 3, Link: emulate.Link{
		NIC:  emulate.NIC{Rate: 200 * emulate.Mbit},
		Path: emulate.Path{Delay: 500 * time.Microsecond, Loss: emulate.Independent(0.02), Duplicate: 0.05},
	}})
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {2, 0}} {
		near, far := connect(t, n.Host(pair[0]), n.Host(pair[1]))
		transfer(t, near, far, 1<<20)
		transfer(t, far, near, 1<<20)
	}
	r := end()
	assert.Equal(t, network.Netem, r.Backend)
	assert.Empty(t, r.Why)
	assert.NotZero(t, r.Total.Lost)
	assert.Greater(t, r.Total.Delivered+r.Total.Lost, r.Total.Sent, "nothing came twice")
	assert.GreaterOrEqual(t, r.Total.DeliveredBytes, uint64(6<<20))
	assert.LessOrEqual(t, r.Total.DeliveredBytes, r.Total.Delivered*(network.DefaultMTU+emulate.EthernetHeader), "a frame was too long")
}

func TestKernelNetemDelay(t *testing.T) {
	const delay = 20 * time.Millisecond
	n, _ := byNetem(t, network.Config{Hosts: 2, Link: delayed(delay)})
	near, far := connect(t, n.Host(0), n.Host(1))
	for range 5 {
		start := time.Now()
		transfer(t, near, far, 1)
		require.GreaterOrEqual(t, time.Since(start), delay)
	}
}

func TestKernelNetemRate(t *testing.T) {
	const rate, size = 20 * emulate.Mbit, 1 << 20
	for _, queue := range []emulate.Queue{{Frames: 20}, {Bytes: 30_000}} {
		n, end := byNetem(t, network.Config{Hosts: 2, Link: emulate.Link{NIC: emulate.NIC{Rate: rate, Queue: queue}}})
		near, far := connect(t, n.Host(0), n.Host(1))
		start := time.Now()
		transfer(t, near, far, size)
		// What the token buckets held at the start came at once.
		require.GreaterOrEqual(t, time.Since(start)+10*time.Millisecond, time.Duration(float64(size)*8/float64(rate)*1e9))
		assert.NotZero(t, end().Total.DroppedOut, "a queue of %+v", queue)
	}
}

// If no backend is asked for, it is netem where the kernel has it and it can do the network.
func TestWhichBackend(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	has := true
	n, err := network.New(network.Config{Hosts: 2, Backend: network.Netem})
	if missing, ok := errors.AsType[*network.NetemError](err); ok {
		has = false
		assert.ErrorContains(t, err, "netem can not emulate this network: this kernel has not all that it takes: ")
		assert.NotContains(t, missing.Error(), "\n", "it stands in tables, and in sentences")
		t.Log(missing)
	} else {
		require.NoError(t, err)
		_, err = n.Close()
		require.NoError(t, err)
	}
	for _, c := range []struct {
		config network.Config
		why    string
	}{
		{network.Config{}, "this kernel has not all that it takes"},
		{network.Config{Between: func(int, int) emulate.Path { return emulate.Path{} }}, "paths differ between hosts"},
		{network.Config{Link: emulate.Link{Path: emulate.Path{Loss: emulate.Bursts(0.1, 3)}}}, "loss in bursts"},
		{network.Config{Link: emulate.Link{Path: emulate.Path{Delay: 2, Jitter: 1}}}, "jitter"},
		{network.Config{Link: emulate.Link{Path: emulate.Path{Reorder: 0.1}}}, "reordering"},
		{network.Config{Link: emulate.Link{Path: emulate.Path{Corrupt: 0.1}}}, "damage"},
		{network.Config{Link: emulate.Link{NIC: emulate.NIC{Queue: emulate.Queue{Frames: 1, Bytes: 2}}}}, "two bounds"},
		{network.Config{Backend: network.UserSpace}, "it was asked for"},
	} {
		c.config.Hosts = 2
		n, err := network.New(c.config)
		require.NoError(t, err)
		backend, why := n.Backend()
		r, err := n.Close()
		require.NoError(t, err)
		assert.Equal(t, [2]string{string(backend), why}, [2]string{string(r.Backend), r.Why})
		if plain := c.config.Backend == "" && c.why == "this kernel has not all that it takes"; plain && has {
			assert.Equal(t, network.Netem, backend)
			continue
		}
		assert.Equal(t, network.UserSpace, backend)
		assert.Contains(t, why, c.why)
	}
	_, err = network.New(network.Config{Hosts: 2, Backend: "wet string"})
	assert.ErrorContains(t, err, `backend "wet string": want "netem" or "user-space"`)
}
