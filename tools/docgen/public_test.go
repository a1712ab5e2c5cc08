package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promise is the sentence of package strand's documentation about what may be imported.
var promise = regexp.MustCompile(`(?s)Packages (.*?) are\s+made to be imported`)

// Who asks which packages may be imported gets one answer: from the documentation of package strand,
// from CHANGELOG.md and from docs/api, which tools/apilist writes.
func TestPublicPackages(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "api", "*.txt"))
	require.NoError(t, err)
	var listed []string
	for _, page := range pages {
		listed = append(listed, strings.TrimSuffix(filepath.Base(page), ".txt"))
	}
	slices.Sort(listed)
	require.Greater(t, len(listed), 10)

	sentence := promise.FindStringSubmatch(strings.ReplaceAll(read(t, "doc.go"), "\n//", ""))
	require.NotNil(t, sentence)
	assert.Equal(t, listed, packagesOf(sentence[1]), "doc.go")

	_, line, found := strings.Cut(read(t, "CHANGELOG.md"), "public packages: ")
	require.True(t, found)
	line, _, _ = strings.Cut(line, "\n")
	assert.Equal(t, listed, packagesOf(line), "CHANGELOG.md")
}

// packagesOf returns the names in a list such as "btl, `coll` and param".
func packagesOf(list string) []string {
	names := regexp.MustCompile(`[a-z]+`).FindAllString(strings.ReplaceAll(list, " and ", ", "), -1)
	slices.Sort(names)
	return names
}
