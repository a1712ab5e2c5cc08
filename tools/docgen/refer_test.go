package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the pages, the comments and CI refer to is there: tests, benchmarks and fuzzers, files
// and folders, targets of make, and headings.

const root = "../.."

// A source is a file of the tree. Its name is relative to the root.
type source struct {
	name, text string
	declared   []string // the functions and methods of a program
	comments   []string // those of a program or of a script
}

// tree is all files that are sources of something, but for those of other programs.
func tree(t *testing.T) []source {
	t.Helper()
	all, err := readTree()
	require.NoError(t, err)
	require.Greater(t, len(all), 500)
	return all
}

var readTree = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, at)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".mod"}, path.Ext(name)) && name != "Makefile" && name != ".ci/run":
			return nil
		}
		text, err := os.ReadFile(at)
		all = append(all, newSource(filepath.ToSlash(name), string(text)))
		return err
	})
	return all, err
})

// newSource reads a file once for all tests. The expressions see the few lines that may match: over whole texts they
// took longer than all else here.
func newSource(name, text string) source {
	s := source{name: name, text: text}
	if s.isPage() {
		return s
	}
	for line := range strings.Lines(text) {
		if m := declarations.FindStringSubmatch(line); m != nil {
			s.declared = append(s.declared, m[1])
		}
		if !strings.Contains(line, "//") && !strings.Contains(line, "#") {
			continue
		}
		for _, m := range comments.FindAllStringSubmatch(strings.TrimSuffix(line, "\n"), -1) {
			s.comments = append(s.comments, m[1]+m[2])
		}
	}
	return s
}

var (
	fences       = regexp.MustCompile("(?ms)^```.*?^```|^    [^\n]*")
	comments     = regexp.MustCompile(`(?m)(?:^|\s)//\s?(.*)$|^\s*#\s(.*)$`)
	declarations = regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)`)
	testNames    = regexp.MustCompile(`\b((?:Test|Fuzz|Benchmark)[A-Z]\w*)([…(]?)`)
	makeCalls    = regexp.MustCompile(`(?m)(?:^|[\s` + "`" + `])make ([a-z][a-z-]*)`)
	makeTargets  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	goTests      = regexp.MustCompile(`\bgo test ((?:'[^']*'|[^\n` + "`" + `|#;&)'])*)`)
	patterns     = regexp.MustCompile(`-(?:run|bench|fuzz)[= ](?:'([^']+)'|([^\s']+))`)
	headings     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	links        = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
)

func (s source) isPage() bool { return strings.HasSuffix(s.name, ".md") }

// code is what a page shows as code, and all of what a script or the Makefile does; of a
// program it is nothing.
func (s source) code() []string {
	switch {
	case strings.HasSuffix(s.name, ".go"):
		return nil
	case !s.isPage():
		return []string{s.text}
	}
	blocks := fences.FindAllString(s.text, -1)
	return append(blocks, codeSpans.FindAllString(fences.ReplaceAllString(s.text, ""), -1)...)
}

// Every test, benchmark and fuzzer that is named is there.
func TestNamedTestsExist(t *testing.T) {
	all, declared := tree(t), make(map[string]bool)
	for _, s := range all {
		for _, name := range s.declared {
			declared[name] = true
		}
	}
	found := 0
	for _, s := range all {
		for _, text := range append(s.code(), s.comments...) {
			if !strings.Contains(text, "Test") && !strings.Contains(text, "Fuzz") && !strings.Contains(text, "Benchmark") {
				continue
			}
			for _, m := range testNames.FindAllStringSubmatch(patterns.ReplaceAllString(text, ""), -1) {
				family := func(name string) bool { return strings.HasPrefix(name, m[1]) } // TestKernel…, TestTrialsOf(Killing|Exits)
				there := declared[m[1]] || m[2] != "" && slices.ContainsFunc(slices.Collect(maps.Keys(declared)), family)
				assert.True(t, there || m[1] == "FuzzXxx", "%s names %s, which is not there", s.name, m[1])
				found++
			}
		}
	}
	require.Greater(t, found, 20, "the expression finds the names")
}

// What a page has go test run matches a test, benchmark or fuzzer of that package.
func TestNamedTestCommandsMatch(t *testing.T) {
	all, found := tree(t), 0
	for _, s := range all {
		for _, text := range s.code() {
			for _, command := range goTests.FindAllStringSubmatch(text, -1) {
				for _, m := range patterns.FindAllStringSubmatch(command[1], -1) {
					pattern := m[1] + m[2]
					if strings.HasPrefix(pattern, "^$") || pattern == "X" {
						continue // none, or one that stands for any
					}
					assert.True(t, matches(t, all, strings.Fields(command[1]), pattern), "%s: go test %s finds nothing for %s", s.name, command[1], pattern)
					found++
				}
			}
		}
	}
	require.Greater(t, found, 20, "the expression finds the commands")
}

// matches reports whether the packages among the words of a command have a function that a
// pattern of go test finds.
func matches(t *testing.T, all []source, words []string, pattern string) bool {
	name, err := regexp.Compile(strings.SplitN(pattern, "/", 2)[0])
	require.NoError(t, err)
	packages := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w != "." && !strings.HasPrefix(w, "./") })
	for _, s := range all {
		if !strings.HasSuffix(s.name, "_test.go") || !slices.ContainsFunc(packages, func(p string) bool { return within(s.name, p) }) && len(packages) > 0 {
			continue
		}
		for _, f := range s.declared {
			if testNames.MatchString(f) && name.MatchString(f) {
				return true
			}
		}
	}
	return false
}

// within reports whether a file belongs to a package, or to those of a pattern as ./pml/...
func within(file, pattern string) bool {
	folder, all := strings.CutSuffix(path.Clean(pattern), "...")
	if all {
		return folder == "" || strings.HasPrefix(file, path.Clean(folder)+"/")
	}
	return path.Dir(file) == path.Clean(folder)
}

// Every target of make that is named is there.
func TestNamedTargetsExist(t *testing.T) {
	all, targets := tree(t), make(map[string]bool)
	for _, s := range all {
		if s.name == "Makefile" {
			for _, m := range makeTargets.FindAllStringSubmatch(s.text, -1) {
				targets[m[1]] = true
			}
		}
	}
	found := 0
	for _, s := range all {
		for _, text := range s.code() {
			for _, m := range makeCalls.FindAllStringSubmatch(text, -1) {
				assert.True(t, targets[m[1]], "%s names make %s, which is not there", s.name, m[1])
				found++
			}
		}
	}
	require.Greater(t, found, 10, "the expression finds the targets")
}

// Every file and folder that is named is there: in pages seen from the root, in comments from
// the file's own folder or one above it too.
func TestNamedPathsExist(t *testing.T) {
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var folders []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" && e.Name() != ".git" {
			folders = append(folders, regexp.QuoteMeta(e.Name()))
		}
	}
	paths := regexp.MustCompile(`(?:^|[\s"'(` + "`" + `]|\./)((?:` + strings.Join(folders, "|") + `)/[\w./*-]+)`)
	found := 0
	for _, s := range tree(t) {
		for _, text := range append(s.code(), s.comments...) {
			if !strings.Contains(text, "/") {
				continue
			}
			for _, m := range paths.FindAllStringSubmatch(text, -1) {
				assert.True(t, leads(s, m[1]), "%s names %s, which is not there", s.name, m[1])
				found++
			}
		}
	}
	require.Greater(t, found, 200, "the expression finds the paths")
}

// leads reports whether there is something at a path.
func leads(s source, name string) bool {
	name = strings.TrimRight(strings.TrimSuffix(name, "..."), ".")
	for folder := path.Dir(s.name); ; folder = path.Dir(folder) {
		if s.isPage() {
			folder = "."
		}
		if at, _ := filepath.Glob(filepath.Join(root, folder, name)); len(at) > 0 { // a pattern that is none finds nothing
			return true
		}
		if folder == "." {
			return false
		}
	}
}

// Every page and heading that a page refers to is there.
func TestLinks(t *testing.T) {
	anchors := make(map[string]map[string]bool)
	pages := slices.DeleteFunc(slices.Clone(tree(t)), func(s source) bool { return !s.isPage() })
	for _, s := range pages {
		anchors[s.name] = make(map[string]bool)
		for _, m := range headings.FindAllStringSubmatch(fences.ReplaceAllString(s.text, ""), -1) {
			anchors[s.name][anchor(m[1])] = true
		}
	}
	for _, s := range pages {
		for _, m := range links.FindAllStringSubmatch(fences.ReplaceAllString(s.text, ""), -1) {
			to := s.name
			if m[1] != "" {
				to = path.Join(path.Dir(s.name), m[1])
			}
			_, err := os.Stat(filepath.Join(root, to))
			assert.NoError(t, err, "%s refers to %s", s.name, m[1])
			if m[2] != "" {
				assert.True(t, anchors[to][m[2][1:]], "%s refers to the heading %s, which %s has not", s.name, m[2], to)
			}
		}
	}
}

// anchor is the name that readers of pages give to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case strings.ContainsRune("`,.:;'\"()/?!*", r):
			return -1
		}
		return r
	}, strings.ToLower(heading))
}
