//go:build linux

package kerneltest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/testnet"
)

// crowdSizes of messages from each rank to each: eager, and with a rendezvous.
var crowdSizes = []int{0, 100, 5000, 300_000}

// crowd has each rank send messages to each other one, all at once, and then
// tells which sockets it has.
func crowd(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	content := func(from, to, tag int) []byte {
		return bytes.Repeat([]byte{byte(1 + from*c.Size() + to)}, crowdSizes[tag])
	}
	var reqs []strand.Request
	var got [][]byte
	var want [][]byte
	for peer := range c.Size() {
		for tag := range crowdSizes {
			if peer == c.Rank() {
				continue
			}
			want = append(want, content(peer, c.Rank(), tag))
			got = append(got, make([]byte, len(want[len(want)-1])))
			receive, err := c.Irecv(got[len(got)-1], peer, tag)
			if err != nil {
				return err
			}
			send, err := c.Isend(content(c.Rank(), peer, tag), peer, tag)
			if err != nil {
				return err
			}
			reqs = append(reqs, receive, send)
		}
	}
	if err := strand.WaitAll(ctx, reqs, nil); err != nil {
		return err
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			return fmt.Errorf("message %d of %d bytes is not what was sent", i, len(want[i]))
		}
	}
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	line, err := inventory()
	if err != nil {
		return err
	}
	fmt.Println(line)
	return c.Barrier(ctx) // all have looked
}

// inventory lists this process's sockets: those of SCTP with how many
// associations each has, as /proc/net/sctp has it, and the others.
func inventory() (string, error) {
	endpoints, err := table("/proc/self/net/sctp/eps", "INODE")
	if err != nil {
		return "", err
	}
	associations, err := table("/proc/self/net/sctp/assocs", "INODE")
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return "", err
	}
	mine, others := []string{}, 0
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		inode, ok := strings.CutPrefix(to, "socket:[")
		if err != nil || !ok {
			continue
		}
		inode = strings.TrimSuffix(inode, "]")
		if endpoints[inode] == 0 {
			others++
			continue
		}
		mine = append(mine, fmt.Sprintf("descriptor %s with %d associations", e.Name(), associations[inode]))
	}
	return fmt.Sprintf("SCTP: %s; other sockets: %d", strings.Join(mine, ", "), others), nil
}

// table counts the lines of a table of the kernel's by what a column has.
func table(file, column string) (map[string]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	at, counts := -1, make(map[string]int)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if at >= 0 && at < len(fields) {
			counts[fields[at]]++
		}
		for i, name := range fields {
			if name == column {
				at = i
			}
		}
	}
	return counts, nil
}

// Sixteen processes, each of which sends to each: one socket for all data in
// each. The other two are the launcher's, which go to no other rank.
func TestKernelCrowd(t *testing.T) {
	const size = 16
	host := testnet.New(t).Host("a")
	placement := make([]*testnet.Host, size)
	for i := range placement {
		placement[i] = host
	}
	r := play(t, "crowd", placement).Run(t)
	require.NoError(t, r.Wait())
	for rank := range size {
		line := r.Await(rank, "SCTP: ").Text
		assert.Regexp(t, `^SCTP: descriptor \d+ with 15 associations; other sockets: 2$`, line, "rank %d", rank)
		if rank == 0 {
			t.Log(line)
		}
	}
}
