// Package wirepage reads the sizes that docs/WIRE.md states, for the tests that
// compare them with the code.
package wirepage

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	heading = regexp.MustCompile(`^### ([A-Z][A-Z -]*[A-Z]), .*: (\d+) bytes$`)
	field   = regexp.MustCompile(`^\| (\d+) \| (\d+) \| `)
	vector  = regexp.MustCompile("^\\| (.+) \\| `([0-9a-f]+)` \\|$")
)

// Text returns the page.
func Text(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd() // of a test it is the package's
	for err == nil {
		if page, err := os.ReadFile(filepath.Join(dir, "docs", "WIRE.md")); err == nil {
			return string(page)
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("docs/WIRE.md is in no directory above the test's")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}

// Sizes returns the size in bytes that the page states for each header, by its
// name. It fails the test if the fields of a table do not follow each other, or
// do not add up to the size in its heading.
func Sizes(t testing.TB) map[string]int {
	t.Helper()
	sizes, err := parse(Text(t))
	if err != nil {
		t.Fatalf("docs/WIRE.md: %v", err)
	}
	return sizes
}

// Vectors returns the bytes, in hexadecimal, that the page states for each vector of its
// examples, by its name.
func Vectors(t testing.TB) map[string]string {
	t.Helper()
	return vectors(Text(t))
}

func vectors(page string) map[string]string {
	found := make(map[string]string)
	in := false
	for line := range strings.Lines(page) {
		switch m := vector.FindStringSubmatch(strings.TrimSuffix(line, "\n")); {
		case strings.HasPrefix(line, "| vector |"):
			in = true
		case !strings.HasPrefix(line, "|"):
			in = false
		case in && m != nil:
			found[m[1]] = m[2]
		}
	}
	return found
}

// Power writes a power of two as the page does: 2²⁰.
func Power(n int) string {
	raised := strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return "2" + raised.Replace(strconv.Itoa(bits.Len(uint(n))-1))
}

func parse(page string) (map[string]int, error) {
	sizes := make(map[string]int)
	name, next := "", 0
	end := func() error {
		if next != 0 && next != sizes[name] {
			return fmt.Errorf("%s: the fields take %d bytes, the heading says %d", name, next, sizes[name])
		}
		next = 0
		return nil
	}
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			if err := end(); err != nil {
				return nil, err
			}
			name = ""
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			name = m[1]
			sizes[name], _ = strconv.Atoi(m[2])
			continue
		}
		m := field.FindStringSubmatch(line)
		if m == nil || name == "" {
			continue
		}
		at, _ := strconv.Atoi(m[1])
		size, _ := strconv.Atoi(m[2])
		if at != next {
			return nil, fmt.Errorf("%s: a field is at %d, the one before it ends at %d", name, at, next)
		}
		next += size
	}
	return sizes, end()
}
