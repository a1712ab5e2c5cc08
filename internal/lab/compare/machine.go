package compare

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/results"
)

// Machine describes this host. What can not be found out is left empty.
func Machine() results.Machine {
	m := results.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	m.Host, _ = os.Hostname()
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = text(name.Release[:])
	}
	m.CPU = field("/proc/cpuinfo", "model name")
	if kilobytes, found := strings.CutSuffix(field("/proc/meminfo", "MemTotal"), " kB"); found {
		n, _ := strconv.ParseUint(kilobytes, 10, 54)
		m.MemoryBytes = n << 10
	}
	return m
}

func text(c []byte) string {
	before, _, _ := bytes.Cut(c, []byte{0})
	return string(before)
}

// field returns the value of a line "name : value" of a file of the kernel's, or "".
func field(file, name string) string {
	contents, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(contents)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
