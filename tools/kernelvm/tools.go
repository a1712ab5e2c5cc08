package main

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// tools are the programs of other people's, by their names.
type tools map[string]string

// neededTools: what is looked for, and the Debian package that has it.
var neededTools = []struct{ name, debianPackage string }{
	{"qemu-system-x86_64", "qemu-system-x86"},
	{"busybox", "busybox-static"},
	{"ip", "iproute2"},
	{"tc", "iproute2"},
	{"ss", "iproute2"},
	{"apt-cache", "apt"},
	{"apt-get", "apt"},
	{"dpkg-deb", "dpkg"},
}

// findTools finds all of them, or says all that is missing at once.
func findTools() (tools, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, fmt.Errorf("this is %s/%s: the machine is built from Debian's packages for amd64, on Debian or a relative of it",
			runtime.GOOS, runtime.GOARCH)
	}
	found := make(tools)
	var names, packages []string
	for _, t := range neededTools {
		path, err := exec.LookPath(t.name)
		if err == nil && t.name == "busybox" && !static(path) {
			err = fmt.Errorf("%s needs shared libraries", path)
		}
		if err != nil {
			names = append(names, t.name)
			if !slices.Contains(packages, t.debianPackage) {
				packages = append(packages, t.debianPackage)
			}
			continue
		}
		found[t.name] = path
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("missing: %s (on Debian: apt-get install --no-install-recommends %s)",
			strings.Join(names, ", "), strings.Join(packages, " "))
	}
	return found, nil
}

// static reports whether a program needs no shared libraries.
func static(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	return err == nil && len(libraries) == 0
}
