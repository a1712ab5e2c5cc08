package main

import "path/filepath"

// A kind of file is the tag of its messages.
type kind int

const (
	kindGo kind = iota
	kindAssembly
	kindC
	kindMarkdown
	kindText
	kindOther
	kinds

	// tagStop is the tag of the message that ends a worker. It has been sent
	// after all files, so a receive for any tag sees it after all files.
	tagStop = int(kinds)
)

var kindNames = [kinds]string{".go", ".s", ".c .h", ".md", ".txt", "other"}

func (k kind) String() string { return kindNames[k] }

func kindOf(path string) kind {
	switch filepath.Ext(path) {
	case ".go":
		return kindGo
	case ".s":
		return kindAssembly
	case ".c", ".h":
		return kindC
	case ".md":
		return kindMarkdown
	case ".txt":
		return kindText
	}
	return kindOther
}
