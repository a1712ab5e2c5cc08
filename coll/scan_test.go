package coll

import (
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
