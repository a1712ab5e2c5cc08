package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// netpipePair measures by Debian's NetPIPE, where there is no compiler for our
// own program. It starts anew for each order and does ping-pong only.
type netpipePair struct {
	mpi *implementation
	dir string // for its files
}

// Run implements [Job]. NetPIPE warms up by itself and takes the best of its repetitions. Each
// repetition has as many iterations as the order.
func (p *netpipePair) Run(ctx context.Context, o Order) (got Outcome, err error) {
	dir, err := os.MkdirTemp(p.dir, "netpipe-")
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	size, result := strconv.Itoa(max(o.Size, 1)), filepath.Join(dir, "np.out")
	var said bytes.Buffer
	cmd := p.mpi.command(ctx, 2, &said, p.mpi.netpipe, "-l", size, "-u", size, "-p", "0",
		"-n", strconv.Itoa(o.Iters), "-o", result)
	if err := cmd.Run(); err != nil {
		return Outcome{}, fmt.Errorf("%s: %v: %w\n%s", p.mpi.netpipe, o, err, said.Bytes())
	}
	text, err := os.ReadFile(result)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %v: %w\n%s", p.mpi.netpipe, o, err, said.Bytes())
	}
	half, err := parseNetpipe(string(text))
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %v: %w\n%s", p.mpi.netpipe, o, err, said.Bytes())
	}
	return Outcome{Took: time.Duration(half * 1000 * 2 * float64(o.Iters))}, nil
}

// Close implements [Job].
func (p *netpipePair) Close() error { return nil }

// parseNetpipe finds the microseconds of half a round trip in NetPIPE's file, which has a line for each size:
// bytes, 2²⁰ bits a second, and seconds, with fewer digits. What its processes print gets mixed up.
func parseNetpipe(file string) (float64, error) {
	for line := range strings.Lines(file) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		size, err := strconv.ParseFloat(fields[0], 64)
		rate, bad := strconv.ParseFloat(fields[1], 64)
		if err == nil && bad == nil && size > 0 && rate > 0 && !math.IsInf(size/rate, 0) {
			return size * 8 / (rate * (1 << 20)) * 1e6, nil
		}
	}
	return 0, fmt.Errorf("no line with bytes, rate and time in its file: %.400q", file)
}
