package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages for newcomers tell of every call of the interfaces that they are about: MPI_Send by its
// name, MPI_File_open by MPI_File_*, mpi4py's File.Open by Open, File.Open or File.*.
func TestPagesNameEveryCall(t *testing.T) {
	for list, page := range map[string]string{"mpi-3.1.txt": "COMING-FROM-OPEN-MPI.md", "mpi4py-3.1.txt": "COMING-FROM-MPI4PY.md"} {
		named, families := callsOf(read(t, "docs", page))
		calls := strings.Fields(read(t, "tools", "docgen", "testdata", list))
		require.Greater(t, len(calls), 300)
		for _, call := range calls {
			_, method, _ := strings.Cut(call, ".")
			found := named[call] || method != "" && named[method]
			for _, f := range families {
				found = found || strings.HasPrefix(call, f) || method != "" && strings.HasPrefix(method, f)
			}
			assert.True(t, found, "%s does not name %s", page, call)
		}
	}
}

// names are those in code of the first column of tables.
var names = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_.]*\*?`)

// callsOf returns the names in the first columns of a page's tables, and what those that end with a
// star begin with.
func callsOf(page string) (named map[string]bool, families []string) {
	named = make(map[string]bool)
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, span := range codeSpans.FindAllString(cells[1], -1) {
			for _, name := range names.FindAllString(span, -1) {
				if family, is := strings.CutSuffix(name, "*"); is {
					families = append(families, family)
				} else {
					named[name] = true
				}
			}
		}
	}
	return named, families
}
