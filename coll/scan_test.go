package coll

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// counted is a process that shares no memory, and counts what all send.
type counted struct {
	Comm
	sent *atomic.Int64
}

func (c counted) Send(buf []byte, to int) error {
	c.sent.Add(1)
	return c.Comm.Send(buf, to)
}

// A scan sends and combines only what some process needs: the lower ones of the last round need nothing of the higher ones.
func TestAScanSendsWhatIsNeeded(t *testing.T) {
	for _, want := range []struct{ ranks, sent, combined int64 }{{1, 0, 0}, {2, 1, 1}, {3, 3, 4}, {4, 5, 6}, {5, 8, 11}, {8, 17, 23}} {
		for name, scan := range map[string]func(context.Context, Comm, Op, []byte, []byte) error{"scan": Scan, "exscan": Exscan} {
			var sent, combined atomic.Int64
			op := affine
			op.Fold = func(acc, in []byte, before bool) {
				combined.Add(1)
				affine.Fold(acc, in, before)
			}
			together(t, int(want.ranks), func(c Comm) error {
				return scan(t.Context(), counted{c, &sent}, op, contribution(c.Rank(), 160), make([]byte, 160))
			})
			of := fmt.Sprintf("%s of %d ranks", name, want.ranks)
			assert.Equal(t, want.sent, sent.Load(), of)
			assert.LessOrEqual(t, combined.Load(), want.combined, of)
		}
	}
}

// A chain has the results of any other scan, in any segments, and in place.
func TestScanByChain(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for _, length := range []int{8, 24, 160, 168} {
			want := scanned(sum, n, length)
			together(t, n, func(c Comm) error {
				acc := contribution(c.Rank(), length)
				err := scanChain(t.Context(), c, sum, acc, nil, 40)
				assert.Equal(t, want[c.Rank()], acc)
				if err != nil {
					return err
				}
				before := []byte("as it is")
				before = append(before, make([]byte, length-len(before))...)
				kept := append([]byte(nil), before...)
				err = scanChain(t.Context(), c, sum, contribution(c.Rank(), length), before, 40)
				if c.Rank() > 0 {
					kept = want[c.Rank()-1]
				}
				assert.Equal(t, kept, before)
				return err
			})
		}
	}
}

// Long scans go by the chain where that is less work, but for those that keep the order of ranks.
func TestWhichScansGoByChain(t *testing.T) {
	assert.Zero(t, scanSegment(sum, 100<<10, 3, false))
	assert.Equal(t, segment, scanSegment(sum, 3*segment, 3, false))
	assert.Equal(t, 4*segment, scanSegment(sum, segment, 8, true))
	assert.Zero(t, scanSegment(sum, segment, 9, true))
	assert.Zero(t, scanSegment(affine, 100*segment, 3, true))
	wide := sum
	wide.Size = 3 * segment
	assert.Equal(t, wide.Size, scanSegment(wide, 6*segment, 3, false), "no value is divided")

	for _, crowd := range []bool{false, true} { // and in place, through the doors
		want := scanned(sum, 3, 3*segment)
		togetherOn(t, 3, placed(5, 3, crowd), func(c Comm) error {
			all := contribution(c.Rank(), 3*segment)
			err := Exscan(t.Context(), c, sum, all, all)
			if c.Rank() > 0 {
				assert.True(t, bytes.Equal(want[c.Rank()-1], all))
			}
			return err
		})
	}
}
