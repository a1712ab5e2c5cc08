package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	if err := s.writeImage(ctx, image, k, tools, tests); err != nil {
		return err
	}
	step("image")
	r := newReport(os.Stdout, tests)
	m := &machine{
		tools: tools, kernel: k.image, image: image,
		processors: s.processors, memory: s.memory, limit: s.limit,
	}
	err = m.boot(ctx, r)
	step("machine has ended")
	return errors.Join(r.verdict(), err)
}
