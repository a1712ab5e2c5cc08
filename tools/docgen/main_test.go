package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	require.NoError(t, err)
	return string(b)
}

func TestParametersAreCurrent(t *testing.T) {
	page, err := parameters()
	require.NoError(t, err)
	assert.True(t, string(page) == read(t, "docs", "PARAMETERS.md"), "docs/PARAMETERS.md is not what the declarations say: run make docs")
}

// The program in the README is the one that is compiled.
func TestReadmeProgram(t *testing.T) {
	program := read(t, "examples", "hello", "main.go")
	program = program[strings.Index(program, "package main"):]
	assert.Contains(t, read(t, "README.md"), "```go\n"+program+"```\n")
}

// parameterNames finds what looks like a parameter: pml_…, progress_…, and btl_…
// of a transport that is built in.
var parameterNames = regexp.MustCompile(`\b(btl_(tcp|self)|pml|progress)_[a-z_]+\b`)

// Every parameter that a page names exists; of the pages for newcomers, which have others'
// names too, the command line's tests say so (TestNamesForNewcomersExist).
func TestNamedParametersExist(t *testing.T) {
	page, err := parameters()
	require.NoError(t, err)
	pages := []string{read(t, "README.md")}
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	require.NoError(t, err)
	for _, f := range files {
		if name := filepath.Base(f); !strings.HasPrefix(name, "COMING-FROM-") {
			pages = append(pages, read(t, "docs", name))
		}
	}
	for _, text := range pages {
		for _, name := range parameterNames.FindAllString(text, -1) {
			assert.True(t, strings.Contains(string(page), "`"+name+"`"), "there is no parameter %s", name)
		}
	}
}
