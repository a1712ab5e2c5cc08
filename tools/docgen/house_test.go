package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/ARCHITECTURE.md names every package, but for those below one that it names.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(root + "/docs/ARCHITECTURE.md")
	require.NoError(t, err)
	_, house, found := strings.Cut(string(text), "\n## The house\n")
	require.True(t, found)
	house, _, _ = strings.Cut(house, "\n## ")
	named := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(house, func(r rune) bool { return strings.ContainsRune(" \n:;,", r) }) {
		named[word] = true
	}
	packages := 0
	require.NoError(t, filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		name, relative := filepath.Rel(root, dir)
		sources, _ := filepath.Glob(dir + "/*.go") // the pattern is a good one
		switch {
		case err != nil || relative != nil:
			return err
		case !d.IsDir() || name == ".":
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case len(sources) == 0:
			if named[filepath.ToSlash(name)] {
				return fs.SkipDir // of programs, or of another module
			}
			return nil
		}
		packages++
		above := filepath.ToSlash(name)
		for !named[above] && above != "." {
			above = path.Dir(above)
		}
		assert.NotEqual(t, ".", above, "%s is not in The house", name)
		return nil
	}))
	assert.Greater(t, packages, 30)
}
