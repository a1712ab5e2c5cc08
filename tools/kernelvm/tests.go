package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A testBinary is a package's tests, built to run anywhere.
type testBinary struct {
	pkg  string // import path
	dir  string // the package's folder
	file string
}

// buildForMachine has the go command, from now on, build for a Linux without any
// libraries.
func buildForMachine() error {
	for name, value := range map[string]string{"CGO_ENABLED": "0", "GOOS": "linux", "GOARCH": "amd64"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// buildTests builds the tests of the packages into dir. Packages without tests
// are left out; none with tests is an error.
func buildTests(ctx context.Context, dir string, patterns []string) ([]testBinary, error) {
	const format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
	listed, err := command(ctx, "", "go", append([]string{"list", "-f", format}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var tests []testBinary
	for line := range strings.Lines(listed) {
		pkg, source, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		t := testBinary{pkg, source, filepath.Join(dir, strconv.Itoa(len(tests))+".test")}
		// Without its symbols, which only a debugger needs, a binary has half the size.
		if _, err := command(ctx, "", "go", "test", "-c", "-ldflags=-s -w", "-o", t.file, pkg); err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
	if len(tests) == 0 {
		return nil, fmt.Errorf("no tests in %q: the wrong folder?", patterns)
	}
	return tests, nil
}
