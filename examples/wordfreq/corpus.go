package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A document is a file to be counted.
type document struct {
	path string
	size int64
	kind kind
}

// read fills buf, which it may replace by a larger one, with the file.
func (d document) read(buf []byte) ([]byte, error) {
	f, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if int64(cap(buf)) < d.size {
		buf = make([]byte, d.size)
	}
	buf = buf[:d.size]
	for have := 0; have < len(buf); {
		n, err := f.Read(buf[have:])
		have += n
		if err != nil {
			return nil, fmt.Errorf("%s: %d bytes when it was listed, only %d now: %w", d.path, d.size, have, err)
		}
	}
	return buf, nil
}

// list finds the regular files below a directory, in order, up to a number of
// bytes.
func list(dir string, most int64) (documents []document, total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if total+info.Size() > most {
			return filepath.SkipAll
		}
		total += info.Size()
		documents = append(documents, document{path, info.Size(), kindOf(path)})
		return nil
	})
	if err == nil && len(documents) == 0 {
		err = fmt.Errorf("%s: no files within the limit of %d bytes", dir, most)
	}
	return documents, total, err
}

// goSources is the directory of the Go tree's own sources.
func goSources() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	root := strings.TrimSpace(string(out))
	if err == nil && root == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w (give a directory: -dir)", err)
	}
	return filepath.Join(root, "src"), nil
}
