package param

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

const (
	fileName = "strand.conf"

	// maxFileSize is far above any file of settings and bounds what a file
	// named by mistake costs.
	maxFileSize = 256 << 10
)

// DefaultFiles returns the files that are read if they exist, the strongest
// first: strand.conf in the working directory, strand/strand.conf in the
// user's configuration directory (os.UserConfigDir), /etc/strand.conf.
func DefaultFiles() []string {
	files := []string{fileName}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "strand", fileName))
	}
	return append(files, filepath.Join("/etc", fileName))
}

// readFiles returns a layer for every file, in the order given, and the
// mistakes in all of them.
func readFiles(required, optional []string) ([]layer, []error) {
	var layers []layer
	var mistakes []error
	for i, path := range slices.Concat(required, optional) {
		data, err := readFile(path)
		if i >= len(required) && absent(err) {
			continue
		}
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		settings, wrong := parseFile(path, data)
		layers = append(layers, settings)
		mistakes = append(mistakes, wrong...)
	}
	return layers, mistakes
}

var (
	errUnsearchable = errors.New("permission denied: a directory above it may not be searched")
	errDirectory    = errors.New("is a directory: name a file of lines name = value")
	errIrregular    = errors.New("is no regular file: name a file of lines name = value")
	errNotText      = errors.New("is not text in UTF-8: name a file of lines name = value")
	errTooLarge     = errors.New("is larger than " + FormatSize(maxFileSize) + ": name a file of lines name = value")
)

// absent reports whether a file is not there as far as this user can tell. A process of one user
// often runs with the home directory of another, and may not look into it.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errUnsearchable)
}

// readFile returns the contents of a regular file of sensible size.
func readFile(path string) ([]byte, error) {
	// Looking before opening: the open of a named pipe may wait for ever.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fileError(path, errUnsearchable)
	case err != nil:
		return nil, fileError(path, err)
	case info.IsDir():
		return nil, fileError(path, errDirectory)
	case !info.Mode().IsRegular():
		return nil, fileError(path, errIrregular)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	if len(data) > maxFileSize {
		return nil, fileError(path, errTooLarge)
	}
	return data, nil
}

// fileError reports a file that can not be used.
func fileError(path string, reason error) error {
	if failed, ok := errors.AsType[*fs.PathError](reason); ok {
		reason = failed.Err // the path is named here already
	}
	return fmt.Errorf("file %s: %w", quote(path), reason)
}
