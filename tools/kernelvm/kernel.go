package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A kernel is an unpacked kernel package.
type kernel struct {
	version string
	image   string // file of the kernel itself
	modules string // folder with its modules
}

// metaPackage stands for the current kernel for virtual machines, the smallest
// that has all modules.
const metaPackage = "linux-image-cloud-amd64"

// getKernel returns the kernel that the archive has now, from the cache if it is
// there. Apt checks signatures.
func getKernel(ctx context.Context, cache string) (*kernel, error) {
	name, err := currentPackage(ctx)
	if err != nil { // there may be no lists of packages yet
		refresh(ctx)
		name, err = currentPackage(ctx)
	}
	if err != nil {
		return nil, err
	}
	version := strings.TrimPrefix(name, "linux-image-")
	home := filepath.Join(cache, version)
	k := &kernel{
		version: version,
		image:   filepath.Join(home, "boot", "vmlinuz-"+version),
		modules: filepath.Join(home, "lib", "modules", version),
	}
	if k.whole() {
		return k, nil
	}
	if err := os.RemoveAll(home); err != nil { // somebody has deleted a part of it
		return nil, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(cache, "unpacking-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is overlooked and does no harm
	if err := download(ctx, dir, name); err != nil {
		return nil, err
	}
	if err := unpack(ctx, dir, name); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, "root"), home); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return k, nil
}

// whole reports whether the package is there, and not what an interrupted rm has left.
func (k *kernel) whole() bool {
	_, first := os.Stat(k.image)
	_, last := os.Stat(filepath.Join(k.modules, "modules.builtin"))
	return first == nil && last == nil
}

// currentPackage asks apt for the package behind the meta package.
func currentPackage(ctx context.Context) (string, error) {
	out, err := command(ctx, "", "apt-cache", "depends", metaPackage)
	if err != nil {
		return "", fmt.Errorf("%w (apt-get update reads the lists of packages)", err)
	}
	name, err := dependency(out)
	if err != nil {
		return "", fmt.Errorf("apt-cache depends %s: %w", metaPackage, err)
	}
	return name, nil
}

// dependency finds the kernel in what apt-cache depends prints.
func dependency(printed string) (string, error) {
	for line := range strings.Lines(printed) {
		if key, name, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && key == "Depends" && strings.HasPrefix(name, "linux-image-") {
			return name, nil
		}
	}
	return "", fmt.Errorf("no dependency on a kernel in %q (apt-get update reads the lists of packages; it has to be Debian's)", printed)
}

// download gets the package into dir. Downloads fail now and then; a list that
// is too old names files that are gone.
func download(ctx context.Context, dir, name string) error {
	args := []string{"-q", "download", name}
	if os.Geteuid() == 0 {
		args = append([]string{"-o", "APT::Sandbox::User=root"}, args...) // whose folder this is
	}
	var err error
	for _, pause := range []time.Duration{0, 2 * time.Second, 8 * time.Second, 30 * time.Second} {
		if err != nil {
			fmt.Printf("kernelvm: %v; again in %v\n", err, pause)
			if err := wait(ctx, pause); err != nil {
				return err
			}
			refresh(ctx)
		}
		if _, err = command(ctx, dir, "apt-get", args...); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w (apt-get update reads the lists of packages anew)", err)
}

// refresh reads the lists of packages anew, which only the superuser can.
func refresh(ctx context.Context) {
	if os.Geteuid() != 0 {
		return
	}
	if _, err := command(ctx, "", "apt-get", "-q", "update"); err != nil {
		fmt.Println("kernelvm:", err)
	}
}

// unpack takes the package's files to dir/root.
func unpack(ctx context.Context, dir, name string) error {
	files, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("apt-get download %s: want one file, have %q, %w", name, files, err)
	}
	_, err = command(ctx, dir, "dpkg-deb", "--extract", files[0], "root")
	return err
}

// command runs a program in a folder and returns what it printed; an error has
// what it complained about.
func command(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
