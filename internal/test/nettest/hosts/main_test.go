//go:build linux

package hosts

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
	"github.com/strandmp/strand/examples/nas/suite"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/testnet"
	"github.com/strandmp/strand/strandcmd"
)

// A process of this program is the command strand, here or on a host, or a rank.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		testnet.Main(m)
	}
	switch os.Args[1] {
	case "run", remote.Arguments[0]:
		strandcmd.Main()
	case "ring":
		rank(func(ctx context.Context, w *strand.World) error {
			err := round(ctx, w)
			if err == nil && w.Rank() == 0 {
				fmt.Printf("round %d\n", w.Size())
			}
			return err
		})
	case "rounds":
		rank(rounds)
	case "some":
		rank(some)
	case "cg":
		rank(cg)
	default:
		testnet.Main(m)
	}
}

func rank(f func(context.Context, *strand.World) error) {
	if err := strand.Run(context.Background(), f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// round sends a byte round.
func round(ctx context.Context, w *strand.World) error {
	c, b := w.Comm(), []byte{1}
	next, last := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
	if w.Rank() == 0 {
		if err := c.Send(ctx, b, next, 1); err != nil {
			return err
		}
	}
	if _, err := c.Recv(ctx, b, last, 1); err != nil || w.Rank() == 0 {
		return err
	}
	return c.Send(ctx, b, next, 1)
}

// rounds does so until the job ends.
func rounds(ctx context.Context, w *strand.World) error {
	for n := 0; ; n++ {
		if err := round(ctx, w); err != nil {
			return err
		}
		if n == 0 {
			fmt.Printf("rank %d goes on\n", w.Rank())
		}
	}
}

// some does so for a while.
func some(ctx context.Context, w *strand.World) error {
	for range 200 {
		if err := round(ctx, w); err != nil {
			return err
		}
	}
	if w.Rank() == 0 {
		fmt.Printf("some rounds of %d\n", w.Size())
	}
	return nil
}

// cg is the kernel CG of class S.
func cg(ctx context.Context, w *strand.World) error {
	kernel, err := suite.Find("cg")
	if err != nil {
		return err
	}
	class, err := npb.ParseClass("S")
	if err != nil {
		return err
	}
	result, err := suite.Run(ctx, w.Comm(), kernel, class)
	if err == nil && result != nil {
		fmt.Printf("verified: %v\n", result.Verified())
	}
	return err
}
