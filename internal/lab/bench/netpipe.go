package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// netpipePair measures by Debian's NetPIPE, where there is no compiler for our
// own program. It starts anew for each order and does ping-pong only.
type netpipePair struct{ mpi *implementation }

// Run implements [Job]. NetPIPE warms up by itself and takes the best of its repetitions. Each
// repetition has as many iterations as the order.
func (p *netpipePair) Run(ctx context.Context, o Order) (got Outcome, err error) {
	dir, err := os.MkdirTemp("", "strand-netpipe-")
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	size := strconv.Itoa(max(o.Size, 1))
	var said bytes.Buffer
	cmd := p.mpi.command(ctx, 2, &said, p.mpi.netpipe, "-l", size, "-u", size, "-p", "0",
		"-n", strconv.Itoa(o.Iters), "-o", filepath.Join(dir, "np.out"))
	if err := cmd.Run(); err != nil {
		return Outcome{}, fmt.Errorf("%s: %v: %w\n%s", p.mpi.netpipe, o, err, said.Bytes())
	}
	half, err := parseNetpipe(said.String())
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %v: %w", p.mpi.netpipe, o, err)
	}
	return Outcome{Took: time.Duration(half * 1000 * 2 * float64(o.Iters))}, nil
}

// Close implements [Job].
func (p *netpipePair) Close() error { return nil }

// parseNetpipe finds the microseconds of half a round trip in a line such as
// "  0:       8 bytes   2000 times -->      8.07 Mbps in       7.56 usec".
func parseNetpipe(said string) (float64, error) {
	for line := range strings.Lines(said) {
		_, result, found := strings.Cut(line, "-->")
		fields := strings.Fields(result)
		if !found || len(fields) != 5 || fields[4] != "usec" {
			continue
		}
		if us, err := strconv.ParseFloat(fields[3], 64); err == nil && us > 0 {
			return us, nil
		}
	}
	return 0, fmt.Errorf("no line with usec in its output: %.400q", said)
}
