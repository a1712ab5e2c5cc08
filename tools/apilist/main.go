// Apilist writes what the public packages export, one declaration a line or more, without
// comments and bodies:
//
//	go run ./tools/apilist -to docs/api
//
// The pages are committed, so that whoever changes what is public sees it, and so does whoever
// reads the change (docs/decisions/0036-the-public-interface-is-written-down.md).
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

//go:generate go run . -root ../.. -to ../../docs/api

// public are the packages of which callers may rely on something, by their folders.
var public = []string{
	".", "btl", "btltest", "coll", "conformance", "framing", "handoff", "launch", "param", "reach", "strandcmd", "strandtest", "wireup",
}

func main() {
	root := flag.String("root", ".", "folder of the module")
	to := flag.String("to", "", "folder for the pages, one a package")
	flag.Parse()
	if *to == "" {
		fmt.Fprintln(os.Stderr, "apilist: where to? give -to docs/api")
		os.Exit(2)
	}
	for _, dir := range public {
		if err := write(*root, dir, *to); err != nil {
			fmt.Fprintln(os.Stderr, "apilist:", err)
			os.Exit(1)
		}
	}
}

func write(root, dir, to string) error {
	page, err := list(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	name := dir
	if dir == "." {
		name = "strand"
	}
	return os.WriteFile(filepath.Join(to, name+".txt"), page, 0o644)
}

// list is what the package in a folder exports on Linux on amd64.
func list(dir string) ([]byte, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	found, err := context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range found.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(files, parsed, found.Name)
	if err != nil {
		return nil, err
	}
	page := &pager{files: files}
	page.values(p.Consts, p.Vars)
	page.funcs(p.Funcs)
	for _, t := range p.Types {
		page.decl(t.Decl)
		page.values(t.Consts, t.Vars)
		page.funcs(t.Funcs)
		page.funcs(t.Methods)
	}
	return page.Bytes(), nil
}

// A pager writes declarations.
type pager struct {
	bytes.Buffer
	files *token.FileSet
}

func (p *pager) values(groups ...[]*doc.Value) {
	for _, g := range groups {
		for _, v := range g {
			p.decl(v.Decl)
		}
	}
}

func (p *pager) funcs(all []*doc.Func) {
	for _, f := range all {
		f.Decl.Body = nil
		p.decl(f.Decl)
	}
}

// decl writes one without its comments: they may change.
func (p *pager) decl(d ast.Decl) {
	bare(d)
	var b strings.Builder
	if err := printer.Fprint(&b, p.files, d); err != nil {
		panic(err) // what was parsed can be printed
	}
	for line := range strings.Lines(b.String()) {
		if strings.TrimSpace(line) != "" {
			p.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	p.WriteString("\n")
}

func bare(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
}
