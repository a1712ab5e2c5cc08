package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	_ "github.com/strandmp/strand/internal/builtin" // registers what comes with Strand
	"github.com/strandmp/strand/internal/test/mem"
)

// Each transport that comes with Strand is held to the whole suite by its own package, with
// what only that knows: how to cut a connection, and what makes its time limits short.
func TestBuiltin(t *testing.T) {
	if len(btl.Default.Components()) == 0 {
		t.Fatal("no transport is registered")
	}
	for _, component := range btl.Default.Components() {
		path := reflect.TypeOf(component).PkgPath()
		dir, ours := strings.CutPrefix(path, "github.com/strandmp/strand/")
		if !ours || !runsSuite(t, filepath.Join("..", filepath.FromSlash(dir))) {
			t.Errorf("transport %q is registered, and no test of its package, %s, calls conformance.Run with all cases", component.Name(), path)
		}
	}
}

// runsSuite looks for a test in a folder that runs all cases.
func runsSuite(t *testing.T, dir string) (found bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				found = found || calls(f, "Run") && !calls(f, "Only")
			}
		}
	}
	return found
}

// calls reports whether a function of package conformance is named within f.
func calls(f *ast.FuncDecl, function string) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == function {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == "conformance"
		}
		return !found
	})
	return found
}

func TestRunsSuite(t *testing.T) {
	for dir, want := range map[string]bool{"../btl/tcp": true, "../btl/self": true, "../selection": false} {
		if runsSuite(t, dir) != want {
			t.Errorf("%s runs the suite: %v", dir, !want)
		}
	}
}

func TestRunRegistered(t *testing.T) {
	component := mem.New(kinds["remote"])
	registry, worlds := new(btl.Registry), 0
	registry.Register(component)
	t.Run("mem", func(t *testing.T) {
		conformance.RunRegistered(t, registry, map[string]conformance.Factory{"mem": func() conformance.Subject {
			worlds++
			return conformance.Subject{Component: component}
		}}, conformance.Only("sizes"))
	})
	if worlds < 2 { // one is made to compare components
		t.Errorf("no case was run")
	}
}
