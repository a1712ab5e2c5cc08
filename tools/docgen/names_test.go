package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	codeSpans = regexp.MustCompile("`[^`\n]+`")
	// apiNames finds names of package strand in code: strand.Run, Comm.Send, *PeerFailedError.
	apiNames = regexp.MustCompile(`\bstrand\.([A-Z]\w*(\.[A-Z]\w*)?)|\*([A-Z]\w*)|\b((World|Comm|Request|Message|Status|Outcome|Stats|RailReport|Traffic|Cart|Persistent|PeerFailedError|TruncateError|WaitError)\.[A-Z]\w*)`)
)

// Whatever pages for people name of package strand exists under that name.
func TestNamedCallsExist(t *testing.T) {
	known := publicNames(t)
	require.True(t, known["Comm.Send"] && known["Send"] && known["Status.Count"] && known["ErrTag"])
	found := 0
	for _, page := range [][]string{{"README.md"}, {"docs", "ARCHITECTURE.md"}, {"docs", "COMING-FROM-OPEN-MPI.md"}, {"docs", "COMING-FROM-MPI4PY.md"}, {"docs", "COMING-FROM-LA-MPI.md"}} {
		for _, span := range codeSpans.FindAllString(read(t, page...), -1) {
			for _, m := range apiNames.FindAllStringSubmatch(span, -1) {
				name := m[1] + m[3] + m[4]
				assert.True(t, known[name], "%s names %s, which package strand has not", filepath.Join(page...), name)
				found++
			}
		}
	}
	require.Greater(t, found, 50, "the expression finds the names")
}

// publicNames are the exported names of package strand: "Run", "Comm.Send", "Status.Count".
func publicNames(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "*.go"))
	require.NoError(t, err)
	known := make(map[string]bool)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			addNames(known, d)
		}
	}
	return known
}

func addNames(known map[string]bool, d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); ok {
		known[receiver(f)+f.Name.Name] = true
		return
	}
	for _, spec := range d.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				known[n.Name] = true
			}
		case *ast.TypeSpec:
			known[s.Name.Name] = true
			fields, ok := s.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range fields.Fields.List {
				for _, n := range field.Names {
					known[s.Name.Name+"."+n.Name] = true
				}
			}
		}
	}
}

// receiver is the type whose method it is, and a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	name, ok := of.(*ast.Ident)
	if !ok {
		return ""
	}
	return name.Name + "."
}
