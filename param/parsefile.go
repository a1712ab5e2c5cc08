package param

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var byteOrderMark = []byte("\ufeff")

// parseFile reads the contents of a file of settings. Each line is empty, a
// comment or
//
//	name = value
//
// A comment starts with # at the start of a line or after white space and goes
// to the end of the line. A value that has white space at an end, or a # after
// white space, stands in quotes: 'as it is', or "with \t escapes" as in Go.
// Lines may end in CR LF; a byte order mark at the start is passed over.
func parseFile(path string, data []byte) (settings []Setting, mistakes []error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, []error{fileError(path, errNotText)}
	}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		place := path + ":" + strconv.Itoa(number)
		name, text, err := parseLine(line)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", shown(place), err))
			continue
		}
		if name != "" {
			settings = append(settings, Setting{name, text, Source{File, place}})
		}
	}
	return settings, mistakes
}

// parseLine reads one line. The name is empty if the line sets nothing.
func parseLine(line string) (name, text string, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", nil
	}
	if i := strings.IndexFunc(line, isForbidden); i >= 0 {
		return "", "", fmt.Errorf("control character at byte %d of %s: write it as an escape between double quotes", i+1, quote(line))
	}
	name, rest, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return "", "", fmt.Errorf("%s: write name = value, or # before a comment", quote(line))
	}
	text, err = parseText(strings.TrimSpace(rest))
	return name, text, err
}

// isForbidden reports whether a character may not stand in a line as it is.
func isForbidden(r rune) bool { return unicode.IsControl(r) && r != '\t' }

// parseText reads what follows the equals sign, without white space at its ends.
func parseText(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	switch text[0] {
	case '"':
		return parseEscaped(text)
	case '\'':
		inner, rest, closed := strings.Cut(text[1:], "'")
		if !closed {
			return "", fmt.Errorf("%s: the quote is not closed: end the value with '", quote(text))
		}
		return inner, onlyComment(rest)
	}
	return withoutComment(text), nil
}

// parseEscaped reads a value in double quotes.
func parseEscaped(text string) (string, error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", fmt.Errorf(`%s: the quote is not closed or has a bad escape: end the value with ", and write \ as \\`, quote(text))
	}
	inner, err := strconv.Unquote(quoted)
	if err != nil {
		return "", fmt.Errorf("%s: %w", quote(text), err)
	}
	return inner, onlyComment(text[len(quoted):])
}

// onlyComment checks what follows a closing quote.
func onlyComment(rest string) error {
	if strings.TrimSpace(withoutComment(rest)) != "" {
		return errors.New(quote(strings.TrimSpace(rest)) + " after the closing quote: write it inside the quotes, or # before a comment")
	}
	return nil
}

// withoutComment cuts a comment and the white space before it off a text.
func withoutComment(text string) string {
	space := true
	for i, r := range text {
		if r == '#' && space {
			return strings.TrimSpace(text[:i])
		}
		space = unicode.IsSpace(r)
	}
	return text
}
