package conformance_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/strandmp/strand/conformance"
)

// A rule's source can be opened: a type of package btl, a chapter of its documentation, or a page.
func TestRulesHaveSources(t *testing.T) {
	btl := contract(t)
	for _, rule := range conformance.Rules() {
		if page, chapter, isPage := strings.Cut(rule.Source, ".md, "); isPage {
			text, err := os.ReadFile("../" + page + ".md")
			if err != nil || !strings.Contains(string(text), "\n## "+chapter+"\n") {
				t.Errorf("rule %q: there is no %s (%v)", rule.Name, rule.Source, err)
			}
			continue
		}
		if chapter, ok := strings.CutPrefix(rule.Source, "package btl, "); ok {
			if !strings.Contains(btl.Doc, "\n# "+chapter+"\n") {
				t.Errorf("rule %q: the documentation of package btl has no chapter %s", rule.Name, chapter)
			}
			continue
		}
		for name := range strings.SplitSeq(rule.Source, ", ") {
			if !slices.ContainsFunc(btl.Types, func(d *doc.Type) bool { return "btl."+d.Name == name }) {
				t.Errorf("rule %q: there is no %s", rule.Name, name)
			}
		}
	}
}

// contract is the documentation of package btl.
func contract(t *testing.T) *doc.Package {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	sources, err := filepath.Glob("../btl/*.go")
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, docErr := doc.NewFromFiles(set, files, "github.com/strandmp/strand/btl")
	if err != nil || docErr != nil {
		t.Fatal(err, docErr)
	}
	return p
}
