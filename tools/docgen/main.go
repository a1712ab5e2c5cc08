// Docgen writes the pages of docs/ that are made from the code:
//
//	go run ./tools/docgen -parameters docs/PARAMETERS.md
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

//go:generate go run . -parameters ../../docs/PARAMETERS.md

func main() {
	path := flag.String("parameters", "", "write the page about the parameters to this file")
	flag.Parse()
	if *path == "" {
		fmt.Fprintln(os.Stderr, "docgen: where to? give -parameters docs/PARAMETERS.md")
		os.Exit(2)
	}
	if err := write(*path); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	page, err := parameters()
	if err != nil {
		return err
	}
	return os.WriteFile(path, page, 0o644)
}

// parameters documents what a world with the built-in transports can be told.
func parameters() ([]byte, error) {
	r := param.NewRegistry()
	strand.Declare(r, btl.Default)
	var page bytes.Buffer
	err := param.WriteMarkdown(&page, r)
	return page.Bytes(), err
}
