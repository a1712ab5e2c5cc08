//go:build linux

package kerneltest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

// encapPort is the UDP port of the kernel's SCTP in RFC 6951.
const encapPort = 9899

// mixSizes of messages, in bytes.
var mixSizes = []int{0, 1, 1000, 20_000, 300_000}

// mix has two ranks send each other messages of several sizes and tags, first one
// of them, then the other, then both at once, and tell what they go over.
func mix(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	peer := 1 - c.Rank()
	for round := range 3 {
		var reqs []strand.Request
		for tag, size := range mixSizes {
			if round != c.Rank() {
				req, err := c.Irecv(make([]byte, size), peer, tag)
				if err != nil {
					return err
				}
				reqs = append(reqs, req)
			}
			if round != peer {
				req, err := c.Isend(make([]byte, size), peer, tag)
				if err != nil {
					return err
				}
				reqs = append(reqs, req)
			}
		}
		if err := strand.WaitAll(ctx, reqs, nil); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	for _, rail := range w.Rails() {
		fmt.Printf("rail over %s: %d bytes sent\n", rail.Module, rail.Traffic.BytesSent)
	}
	return c.Barrier(ctx)
}

// A rank with the kernel's SCTP and one with that in user space are one job: the
// kernel's is carried in UDP. Whoever of them has begun.
func TestKernelMixedStacks(t *testing.T) {
	need.KernelSCTP(t)
	for kernel := range need.Times(1, 2) {
		t.Run(fmt.Sprintf("rank %d has the kernel's", kernel), func(t *testing.T) {
			n := testnet.New(t)
			a, b := n.Host("a"), n.Host("b")
			n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
			hosts := []*testnet.Host{a, b}
			hosts[kernel].Sysctl("net/sctp/udp_port", fmt.Sprint(encapPort))
			hosts[kernel].Sysctl("net/sctp/encap_port", fmt.Sprint(encapPort))
			job := play(t, "mix", hosts, fmt.Sprintf("STRAND_BTL_SCTP_ENCAP_PORT=%d", encapPort), "STRAND_VERBOSE=1")
			job.Env = append(job.Env, fmt.Sprintf("%s=%d", mixVariable, kernel))
			requireMixed(t, job.Run(t), kernel)
		})
	}
}

func requireMixed(t *testing.T, r *nettest.Run, kernel int) {
	t.Helper()
	require.NoError(t, r.Wait())
	for rank := range 2 {
		module := "sctp/user"
		if rank == kernel {
			module = "sctp/kernel"
		}
		line := r.Await(rank, "rail over ").Text
		assert.Contains(t, line, module)
		t.Log(rank, line)
	}
}
