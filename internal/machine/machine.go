// Package machine describes a host, for people who read figures that were measured there.
package machine

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Machine is what something ran on. What is not known is empty.
type Machine struct {
	Host        string `json:"host,omitzero"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel,omitzero"`
	Arch        string `json:"arch"`
	CPU         string `json:"cpu,omitzero"` // model
	CPUs        int    `json:"cpus"`         // that the process may use
	MemoryBytes uint64 `json:"memory_bytes,omitzero"`
	Go          string `json:"go"`
}

// This describes this host. What can not be found out is left empty.
func This() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	m.Host, _ = os.Hostname()
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = text(name.Release[:])
	}
	m.CPU = field("/proc/cpuinfo", "model name")
	m.MemoryBytes, _ = Memory("MemTotal")
	return m
}

// Nameless is what a host is called that has no name.
const Nameless = "nameless"

// Hostname returns the name of this host, or [Nameless]: the name is for people, and no reason to refuse anything.
func Hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return Nameless
	}
	return name
}

// Memory returns one of the kernel's figures about memory, in bytes, by the kernel's name for it: MemTotal,
// MemAvailable.
func Memory(name string) (bytes uint64, known bool) {
	kilobytes, _ := strings.CutSuffix(field("/proc/meminfo", name), " kB")
	n, err := strconv.ParseUint(kilobytes, 10, 54)
	return n << 10, err == nil
}

func text(c []byte) string {
	before, _, _ := bytes.Cut(c, []byte{0})
	return string(before)
}

// field returns the value of the line "name : value" in one of the kernel's files, or "".
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
