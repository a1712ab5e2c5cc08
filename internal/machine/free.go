package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FreeMemory returns the memory that the kernel calls available, or less if this process's control
// group, or one around that, may have less.
func FreeMemory() (bytes uint64, known bool) {
	free, known := Memory("MemAvailable")
	if !known {
		return 0, false
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for root, group := range controlGroups(string(groups)) {
		if rest, limited := roomIn(root, group); limited {
			free = min(free, rest)
		}
	}
	return free, true
}

// roomIn is what a control group of the hierarchy at root may still have, and all those that it is in.
func roomIn(root, group string) (free uint64, limited bool) {
	for group = filepath.Join("/", group); ; group = filepath.Dir(group) {
		if rest, is := groupMemory(filepath.Join(root, group)); is && (!limited || rest < free) {
			free, limited = rest, true
		}
		if group == "/" {
			return free, limited
		}
	}
}

// groupMemory is what a control group may still have. Its usage counts cached files, which the
// kernel drops where memory is needed: they are as good as free.
func groupMemory(group string) (free uint64, limited bool) {
	most, limited := oneOf(group, "memory.max", "memory.limit_in_bytes")
	used, counted := oneOf(group, "memory.current", "memory.usage_in_bytes")
	if !limited || !counted {
		return 0, false
	}
	return most - min(used-min(inactiveFile(group), used), most), true
}

// oneOf is the number in a file of a group, which the versions of control groups name differently.
func oneOf(group string, names ...string) (n uint64, ok bool) {
	for _, name := range names {
		if n, ok = Number(filepath.Join(group, name)); ok {
			break
		}
	}
	return n, ok
}

// inactiveFile is how many bytes of a group's memory hold cached files that nobody has used
// lately. In version 1 the groups below it count in the total only, which comes last.
func inactiveFile(group string) (bytes uint64) {
	contents, err := os.ReadFile(filepath.Join(group, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(contents)) {
		if text, found := strings.CutPrefix(strings.TrimPrefix(line, "total_"), "inactive_file "); found {
			bytes, _ = strconv.ParseUint(strings.TrimSpace(text), 10, 64) // or 0: nothing of it is free
		}
	}
	return bytes
}

// controlGroups are the groups of a process that bound its memory, each by the root of its hierarchy: the unified one, and
// that of version 1 for memory. Text is what the kernel says of them, a line for each hierarchy: its number, its controllers and the group.
func controlGroups(text string) map[string]string {
	groups := map[string]string{"/sys/fs/cgroup": ""}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) < 3:
		case fields[1] == "":
			groups["/sys/fs/cgroup"] = fields[2]
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			groups["/sys/fs/cgroup/memory"] = fields[2]
		}
	}
	return groups
}

// Number returns the number that one of the kernel's files has.
func Number(file string) (n uint64, ok bool) {
	contents, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(strings.TrimSpace(string(contents)), 10, 64)
	return n, err == nil // "max" is no number
}
