package bench

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// asMember is the first argument with which this test program is a process of a
// pair, as the command strand is.
const asMember = "bench-member"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asMember {
		if err := Member(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
