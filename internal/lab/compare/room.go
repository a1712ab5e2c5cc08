package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/machine"
)

// What a plan takes, in bytes, as measured, rounded up.
const (
	rankBytes    = 40 << 20  // of a rank, without its messages
	networkBytes = 128 << 20 // rings, and frames on their way
)

// CheckRoom refuses a plan that this host has no memory, or no namespaces, for. Both are
// estimates.
func (p *Plan) CheckRoom(emulated bool) error {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		ranks := t.ranks(p.Ranks)
		need := uint64(ranks)*(rankBytes+t.messageBytes()) + uint64(p.mostNetworks())*networkBytes
		if free, known := freeMemory(); known && need > free {
			return fmt.Errorf("%d ranks of workload %s, messages of %d bytes, need about %s of memory: %s are free here; want fewer --ranks or smaller --sizes",
				ranks, t.Spec.Name, number(t, one), megabytes(need), megabytes(free))
		}
	}
	if !emulated {
		return nil
	}
	need := uint64(p.Ranks + spareNamespaces + p.mostNetworks())
	if limit, known := readNumber("/proc/sys/user/max_net_namespaces"); known && limit > 0 && need > limit {
		return fmt.Errorf("--ranks %d: that takes about %d network namespaces, this user may have %d: want fewer ranks, or, as the superuser, sysctl -w user.max_net_namespaces=%d",
			p.Ranks, need, limit, 4*need)
	}
	return nil
}

// spareNamespaces is how many network namespaces there must be beside those of ranks and
// switches: the comparison has its own.
const spareNamespaces = 1

// messageBytes is the most that a rank holds of messages at a time, in bytes.
func (t *Task) messageBytes() uint64 {
	some := uint64(2) // one that is sent, one that is received
	switch t.Spec.Name {
	case "farm":
		some += number(t, "fanout") * number(t, "outstanding")
	case "burst":
		some += 2 * number(t, "neighbours") * number(t, "messages")
	}
	return number(t, one) * some
}

// number returns a parameter, 1 if there is none.
func number(t *Task, name string) uint64 {
	n, _ := t.Params[name].(float64)
	return uint64(max(n, 1))
}

func megabytes(n uint64) string { return fmt.Sprintf("%d MB", n>>20) }

// freeMemory is the memory that the kernel calls available, or less if this process's control
// group may have less.
func freeMemory() (bytes uint64, known bool) {
	free, known := machine.Memory("MemAvailable")
	if !known {
		return 0, false
	}
	if rest, limited := groupMemory(filepath.Join("/sys/fs/cgroup", controlGroup())); limited {
		free = min(free, rest)
	}
	return free, true
}

// groupMemory is what a control group may still have. Its usage counts cached files, which the
// kernel drops where memory is needed: they are as good as free.
func groupMemory(group string) (free uint64, limited bool) {
	most, limited := readNumber(filepath.Join(group, "memory.max"))
	used, counted := readNumber(filepath.Join(group, "memory.current"))
	if !limited || !counted {
		return 0, false
	}
	return most - min(used-min(inactiveFile(group), used), most), true
}

// inactiveFile is how many bytes of a group's memory hold cached files that nobody has used
// lately.
func inactiveFile(group string) uint64 {
	contents, err := os.ReadFile(filepath.Join(group, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(contents)) {
		if text, found := strings.CutPrefix(line, "inactive_file "); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(text), 10, 64) // or 0: nothing of it is free
			return n
		}
	}
	return 0
}

// controlGroup is this process's group in the unified hierarchy.
func controlGroup() string {
	contents, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(contents)) {
		if path, unified := strings.CutPrefix(line, "0::"); unified {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

func readNumber(file string) (n uint64, ok bool) {
	contents, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(strings.TrimSpace(string(contents)), 10, 64)
	return n, err == nil // "max" is no number
}
