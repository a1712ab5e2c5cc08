package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A fuzzer is one function to run.
type fuzzer struct {
	dir  string // of its module
	pkg  string // import path
	name string // FuzzXxx
}

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Output  string
}

// modules lists the folder itself and those below it that hold a module of their
// own, which "./..." leaves out. What Go passes over (testdata, hidden folders) it
// passes over too.
func modules(root string) ([]string, error) {
	dirs := []string{root}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil || path == root:
			return err
		case entry.IsDir() && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return filepath.SkipDir
		case name == "go.mod" && filepath.Dir(path) != root:
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	return dirs, err
}

// noPackages is what go test says of a module without any.
const noPackages = "matched no packages"

// find lists the fuzzers of the packages of the module in a folder, sorted by
// package and name. It builds their tests; one that does not build is an error.
func find(ctx context.Context, dir string, patterns []string) ([]fuzzer, error) {
	args := append([]string{"test", "-json", "-list", "^Fuzz"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && bytes.Contains(exit.Stderr, []byte(noPackages)) && len(out) == 0 {
			return nil, nil // a module of tools, say
		}
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go test -list: %w\n%s%s", err, exit.Stderr, out)
		}
		return nil, fmt.Errorf("go test -list: %w", err)
	}
	found, err := parse(bytes.NewReader(out))
	for i := range found {
		found[i].dir = dir
	}
	return found, err
}

// parse reads what go test -json -list prints.
func parse(r io.Reader) ([]fuzzer, error) {
	var all []fuzzer
	for d := json.NewDecoder(r); ; {
		var e event
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("go test -list: not what -json prints: %w", err)
		}
		name := strings.TrimSpace(e.Output)
		if e.Action == "output" && strings.HasPrefix(name, "Fuzz") {
			all = append(all, fuzzer{pkg: e.Package, name: name})
		}
	}
	slices.SortFunc(all, func(a, b fuzzer) int {
		return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.name, b.name))
	})
	return all, nil
}
