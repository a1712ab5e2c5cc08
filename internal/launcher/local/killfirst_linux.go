package local

import (
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
	// leastLead is how much of that has to be left. Where this process has the most, as in a pod that Kubernetes promises nothing, it takes a
	// step back itself, if it may (CAP_SYS_RESOURCE).
	leastLead = 100
)

// killFirst has the kernel end a rank rather than this process. What may not be asked of it is left as it is.
func killFirst(pid int) {
	own, err := badness("self")
	if err != nil {
		return
	}
	if own > mostBadness-leastLead && setBadness("self", mostBadness-leastLead) == nil {
		own = mostBadness - leastLead
	}
	_ = setBadness(strconv.Itoa(pid), min(own+rankBadness, mostBadness))
}

func badness(process string) (int, error) {
	text, err := os.ReadFile("/proc/" + process + "/oom_score_adj")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

func setBadness(process string, badness int) error {
	return os.WriteFile("/proc/"+process+"/oom_score_adj", []byte(strconv.Itoa(badness)), 0)
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
