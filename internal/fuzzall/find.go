package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// A fuzzer is one function to run.
type fuzzer struct {
	pkg  string // import path
	name string // FuzzXxx
}

// event is a line of go test -json.
type event struct {
	Action  string
	Package string
	Output  string
}

// find lists the fuzzers of the packages, sorted by package and name. It builds
// their tests; one that does not build is an error.
func find(ctx context.Context, patterns []string) ([]fuzzer, error) {
	args := append([]string{"test", "-json", "-list", "^Fuzz"}, patterns...)
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go test -list: %w\n%s%s", err, exit.Stderr, out)
		}
		return nil, fmt.Errorf("go test -list: %w", err)
	}
	return parse(bytes.NewReader(out))
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
