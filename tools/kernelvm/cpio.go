package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// An archive is an initramfs as the kernel unpacks it: cpio's newc format
// (Documentation/driver-api/early-userspace/buffer-format.rst). Folders are made
// as files need them. The first error sticks and is returned by close.
type archive struct {
	file    *os.File
	w       *bufio.Writer
	offset  int64
	entries int
	made    map[string]bool
	err     error
}

// Modes of cpio entries: kind and permissions.
const (
	cpioFolder  = 0o040755
	cpioProgram = 0o100755
	cpioDevice  = 0o020600
)

func createArchive(name string) (*archive, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &archive{file: f, w: bufio.NewWriterSize(f, 1<<20), made: map[string]bool{".": true, "/": true}}, nil
}

// folder adds a folder, and those that it is in.
func (a *archive) folder(name string) {
	name = strings.TrimPrefix(path.Clean(name), "/")
	if name == "" || a.made[name] {
		return
	}
	a.folder(path.Dir(name))
	a.made[name] = true
	a.entry(name, cpioFolder, 0, 0, strings.NewReader(""), 0)
}

// data adds a file with the content given.
func (a *archive) data(name string, content []byte) {
	a.folder(path.Dir(name))
	a.entry(name, cpioProgram, 0, 0, strings.NewReader(string(content)), int64(len(content)))
}

// copy adds a file of this system's, once.
func (a *archive) copy(name, source string) {
	if a.err != nil || a.made[name] {
		return
	}
	a.made[name] = true
	f, err := os.Open(source)
	if err != nil {
		a.err = err
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		a.err = err
		return
	}
	a.folder(path.Dir(name))
	a.entry(name, cpioProgram, 0, 0, f, info.Size())
}

// device adds a character device.
func (a *archive) device(name string, major, minor int) {
	a.folder(path.Dir(name))
	a.entry(name, cpioDevice, major, minor, strings.NewReader(""), 0)
}

// close ends the archive and returns the first error of all.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, 0, 0, strings.NewReader(""), 0)
	if a.err == nil {
		a.err = a.w.Flush()
	}
	return errors.Join(a.err, a.file.Close())
}

func (a *archive) entry(name string, mode, major, minor int, content io.Reader, size int64) {
	name = strings.TrimPrefix(name, "/")
	a.entries++
	const links = 1
	head := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		a.entries, mode, 0, 0, links, 0, size, 0, 0, major, minor, len(name)+1, 0)
	a.put(strings.NewReader(head+name+"\x00"), int64(len(head)+len(name)+1))
	a.put(content, size)
}

// put writes size bytes and fills up to a multiple of four.
func (a *archive) put(r io.Reader, size int64) {
	if a.err != nil {
		return
	}
	if _, a.err = io.CopyN(a.w, r, size); a.err != nil {
		return
	}
	a.offset += size
	fill := (4 - a.offset%4) % 4
	a.offset += fill
	_, a.err = a.w.Write(make([]byte, fill))
}
