package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// libraryFolders is where the loader looks on Debian, for amd64.
var libraryFolders = []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/lib"}

// program adds a program to bin, and the loader and the libraries that it needs.
func (a *archive) program(name, source string) {
	resolved, err := filepath.EvalSymlinks(source)
	if err != nil {
		a.err = err
		return
	}
	a.copy("bin/"+name, resolved)
	a.needs(resolved)
}

// needs adds what a program or a library needs to be loaded.
func (a *archive) needs(file string) {
	if a.err != nil {
		return
	}
	f, err := elf.Open(file)
	if err != nil {
		a.err = fmt.Errorf("%s: %w", file, err)
		return
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		a.err = fmt.Errorf("%s: %w", file, err)
		return
	}
	if loader := interpreter(f); loader != "" {
		a.copy(strings.TrimPrefix(loader, "/"), loader)
	}
	for _, l := range libraries {
		a.library(l, file)
	}
}

func (a *archive) library(name, by string) {
	for _, folder := range libraryFolders {
		file := filepath.Join(folder, name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		if at := strings.TrimPrefix(file, "/"); !a.made[at] {
			a.copy(at, file)
			a.needs(file)
		}
		return
	}
	a.err = fmt.Errorf("%s needs %s, which is in none of %q", by, name, libraryFolders)
}

// interpreter is the loader that a program names.
func interpreter(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text := make([]byte, p.Filesz)
			if _, err := p.ReadAt(text, 0); err == nil {
				return strings.TrimRight(string(text), "\x00")
			}
		}
	}
	return ""
}
