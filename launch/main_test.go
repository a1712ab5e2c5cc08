package launch

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// roleEnv makes this test binary a rank of a job instead of a test.
const roleEnv = "LAUNCH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		goleak.VerifyTestMain(m)
	case "exchange":
		os.Exit(rank(func(ctx context.Context, j Job) error {
			// One write: the launcher may mix what ranks write in pieces.
			fmt.Printf("rank %d of %d by %s\n", j.Rank(), j.Size(), j.Launcher())
			return exchange(ctx, j, strings.Repeat("\x00 any=\n", 2000))
		}))
	case "abort":
		os.Exit(rank(func(ctx context.Context, j Job) error {
			if j.Rank() == 1 {
				j.Abort(7, "as the test wants")
				os.Exit(7)
			}
			return j.Barrier(ctx)
		}))
	default:
		fmt.Fprintf(os.Stderr, "%s=%s: no such role\n", roleEnv, role)
		os.Exit(2)
	}
}

func rank(f func(context.Context, Job) error) (status int) {
	ctx := context.Background()
	j, err := FromEnvironment(ctx)
	if err == nil {
		err = f(ctx, j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
