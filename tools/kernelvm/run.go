package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// run does everything, in a folder that it removes.
func (s *settings) run(ctx context.Context) error {
	tools, err := findTools()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kernelvm-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // in the system's folder for what may be lost
	started := time.Now()
	step := func(what string) {
		fmt.Printf("kernelvm: %4.1f s  %s\n", time.Since(started).Seconds(), what)
	}

	if err := buildForMachine(); err != nil {
		return err
	}
	tests, err := buildTests(ctx, filepath.Join(dir, "tests"), s.packages)
	if err != nil {
		return err
	}
	step(fmt.Sprintf("%d test binaries", len(tests)))
	k, err := getKernel(ctx, s.cache)
	if err != nil {
		return err
	}
	step("kernel " + k.version)
	image := filepath.Join(dir, "initramfs")
	m := &machine{tools: tools, kernel: k.image, image: image, processors: s.processors, memory: s.memory}
	var problems error
	begun := time.Now()
	for again := false; ; again = true {
		m.limit = s.limit - time.Since(begun)
		if err := s.writeImage(ctx, m, k, tests); err != nil {
			return errors.Join(problems, err)
		}
		step("image")
		r := newReport(os.Stdout, tests)
		err := m.boot(ctx, r)
		step("machine has ended")
		if again || !r.stoodStill() {
			return errors.Join(problems, r.verdict(), err)
		}
		// What is wrong there is wrong with the kernel: a program can not stop a processor.
		fmt.Printf("kernelvm: its kernel stood still; once more, for what is left\n%v\n", r.verdict())
		problems = errors.Join(r.problems...)
		tests = slices.DeleteFunc(tests, func(t testBinary) bool { return !slices.Contains(r.waiting, t.pkg) })
	}
}
