package machine

import (
	"os"
	"path/filepath"
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
	if rest, limited := roomIn("/sys/fs/cgroup", controlGroup()); limited {
		free = min(free, rest)
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
	most, limited := Number(filepath.Join(group, "memory.max"))
	used, counted := Number(filepath.Join(group, "memory.current"))
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

// Number returns the number that one of the kernel's files has.
func Number(file string) (n uint64, ok bool) {
	contents, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseUint(strings.TrimSpace(string(contents)), 10, 64)
	return n, err == nil // "max" is no number
}
