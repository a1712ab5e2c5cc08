package suite_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/examples/nas/suite"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/strandtest"
)

// run runs a job's ranks.
func run(t *testing.T, j job) (result *npb.Result) {
	k, err := suite.Find(j.kernel)
	require.NoError(t, err)
	strandtest.Run(t, j.ranks, func(ctx context.Context, w *strand.World) error {
		r, err := suite.Run(ctx, w.Comm(), k, j.class)
		if w.Rank() == 0 {
			result = r
		} else {
			assert.Nil(t, r)
		}
		return err
	}, strand.WithParam("btl", j.btl+",self"), strand.WithParam("btl_sctp_stack", "user"))
	require.NotNil(t, result)
	return result
}

// A job is a kernel on so many ranks over a transport.
type job struct {
	kernel string
	class  npb.Class
	ranks  int
	btl    string
}

// jobs are every kernel, with ranks that divide its problem evenly and not, and every transport. In the long
// form they are all of them with each other, of classes S and W, and of A on few ranks.
func jobs() []job {
	if !need.Soaking() {
		some := []job{
			{"ep", npb.S, 3, "tcp"},
			{"is", npb.S, 1, "tcp"}, {"is", npb.S, 4, "udp"},
			{"cg", npb.S, 1, "sctp"}, {"cg", npb.S, 2, "udp"},
			{"mg", npb.S, 1, "udp"}, {"mg", npb.S, 2, "sctp"}, {"mg", npb.S, 8, "tcp"},
			{"ft", npb.S, 2, "tcp"},
			{"lu", npb.S, 1, "tcp"}, {"lu", npb.S, 3, "sctp"}, {"lu", npb.S, 4, "udp"},
		}
		if need.Thorough() {
			some = append(some, job{"cg", npb.S, 4, "tcp"})
		}
		return some
	}
	transports := []string{"tcp", "udp", "sctp"}
	if runtime.GOOS == "linux" {
		transports = append(transports, "sm")
	}
	var all []job
	for _, k := range suite.Kernels() {
		for _, class := range []npb.Class{npb.S, npb.W, npb.A} {
			for _, ranks := range []int{1, 2, 3, 4, 5, 6, 8, 16} {
				if k.Permits(class, ranks) != nil || class == npb.A && ranks > 4 {
					continue
				}
				for _, btl := range transports {
					all = append(all, job{k.Name, class, ranks, btl})
				}
			}
		}
	}
	return all
}

func TestKernels(t *testing.T) {
	for _, j := range jobs() {
		t.Run(fmt.Sprint(j.kernel, "/", j.class, "/", j.ranks, "/", j.btl), func(t *testing.T) {
			r := run(t, j)
			var b bytes.Buffer
			r.Report(&b)
			assert.True(t, r.Verified(), "%s", b.String())
			assert.Positive(t, r.Mops)
		})
	}
}

// Numbers of ranks that NPB's programs would not be compiled for are refused on all ranks.
func TestRanksThatAreNotPermitted(t *testing.T) {
	for _, c := range []struct {
		kernel string
		class  npb.Class
		ranks  int
		want   string
	}{
		{"ep", npb.S, 257, "257 ranks: want at most 256, one for each batch of class S"},
		{"is", npb.W, 3, "3 ranks: want a power of two"},
		{"is", npb.S, 256, "256 ranks: want at most 128 for class S"},
		{"cg", npb.S, 6, "6 ranks: want a power of two"},
		{"mg", npb.S, 5, "5 ranks: want a power of two"},
		{"mg", npb.S, 8192, "8192 ranks: want at most 4096, two points of class S in each dimension"},
		{"ft", npb.W, 12, "12 ranks: want a power of two"},
		{"ft", npb.W, 64, "64 ranks: want at most 32, one for each plane of class W"},
		{"lu", npb.S, 5, "5 ranks, as 5 × 1: want at least 3 of the 12 points of class S for each"},
		{"lu", npb.S, 25, "25 ranks, as 5 × 5: want at least 3 of the 12 points of class S for each"},
	} {
		k, err := suite.Find(c.kernel)
		require.NoError(t, err)
		assert.EqualError(t, k.Permits(c.class, c.ranks), c.want, c.kernel)
	}
	strandtest.Run(t, 3, func(ctx context.Context, w *strand.World) error {
		k, err := suite.Find("mg")
		if err != nil {
			return err
		}
		_, err = suite.Run(ctx, w.Comm(), k, npb.S)
		assert.EqualError(t, err, "MG: 3 ranks: want a power of two")
		return nil
	})
}

func TestFind(t *testing.T) {
	k, err := suite.Find("Lu")
	require.NoError(t, err)
	assert.Equal(t, "LU", k.Name)
	_, err = suite.Find("bt")
	assert.EqualError(t, err, `kernel "bt": want one of ep, is, cg, mg, ft, lu`)
	_, err = suite.Find("cgg")
	assert.EqualError(t, err, `kernel "cgg": want one of ep, is, cg, mg, ft, lu; did you mean cg?`)
	_, err = suite.Find("")
	assert.Error(t, err)
}
