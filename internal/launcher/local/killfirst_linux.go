package local

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// rankBadness is by how much ranks are nearer to their end than who has started them when memory is short, in thousandths of
// all of it. The kernel would else end the launcher, which then can not say what has happened: as the ranks of a small container begin, each is
// smaller than it.
const (
	rankBadness = 500
	mostBadness = 1000
)

// killFirst has the kernel end a rank rather than this process. What may not be asked of it is left as it is.
func killFirst(pid int) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return
	}
	if badness, err := strconv.Atoi(strings.TrimSpace(string(own))); err == nil {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(strconv.Itoa(min(badness+rankBadness, mostBadness))), 0)
	}
}

// OutOfMemory returns how many processes the kernel has ended on this host for want of memory, of the host or of a
// container; 0 if it does not say.
func OutOfMemory() int {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			n, _ := strconv.Atoi(strings.TrimSpace(count))
			return n
		}
	}
	return 0
}
