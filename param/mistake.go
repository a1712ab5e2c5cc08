package param

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxQuoted bounds how many bytes of somebody's text an error repeats.
const maxQuoted = 80

// maxMistakes bounds how many mistakes an error lists: somebody may name a file that is
// something else altogether.
const maxMistakes = 100

// join makes one error of all mistakes, nil of none.
func join(mistakes []error) error {
	if more := len(mistakes) - maxMistakes; more > 0 {
		mistakes = append(mistakes[:maxMistakes:maxMistakes], fmt.Errorf("%d more mistakes", more))
	}
	return errors.Join(mistakes...)
}

// badValue reports a value that its parameter does not allow.
func badValue(s Setting, reason error) error {
	return fmt.Errorf("%s = %s (from %v): %w", s.Name, quote(s.Text), s.Source, reason)
}

// unknownName reports a setting of something that nobody declared.
func unknownName(s Setting, declared iter.Seq[string]) error {
	name := s.Name
	if !validName(name) || len(name) > maxQuoted {
		name = quote(name)
	}
	if near := Nearest(s.Name, sameKin(s.Name, declared)); near != "" {
		return fmt.Errorf("%s (from %v): unknown; did you mean %s?", name, s.Source, near)
	}
	return fmt.Errorf(`%s (from %v): unknown, and no parameter has a name like it; "strand info" lists them all`, name, s.Source)
}

// sameKin leaves of all names those of the same transport, if the name is one of a transport's that there is: a setting of another one
// was not meant.
func sameKin(name string, declared iter.Seq[string]) iter.Seq[string] {
	parts := strings.SplitN(strings.ToLower(name), "_", 3)
	if len(parts) < 3 {
		return declared
	}
	kin := parts[0] + "_" + parts[1] + "_"
	of := func(candidate string) bool { return strings.HasPrefix(candidate, kin) }
	for candidate := range declared {
		if parts[0] == "btl" && of(candidate) {
			return func(yield func(string) bool) {
				for candidate := range declared {
					if of(candidate) && !yield(candidate) {
						return
					}
				}
			}
		}
	}
	return declared
}

// contradiction reports two different values from places of equal rank.
func contradiction(first Value, second Setting) error {
	return fmt.Errorf("%s = %s (from %v) contradicts %s (from %v): give only one of them",
		second.Name, quote(second.Text), second.Source, quote(first.Text), first.Source)
}

// excess reports a value that is above that of another parameter.
func excess(v, most Value) error {
	return fmt.Errorf("%s = %s (from %v) is more than %s = %s (from %v), and what is beyond that would never be used: raise the one or lower the other",
		v.Spec.Name, quote(v.Text), v.Source, most.Spec.Name, quote(most.Text), most.Source)
}

// quote repeats somebody's text in an error: on one line, without control characters, and not
// all of a long text.
func quote(text string) string {
	if len(text) <= maxQuoted {
		return strconv.Quote(text)
	}
	end := maxQuoted
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:end], len(text))
}

// longestPlace is as long as the path of a file may be.
const longestPlace = 4096

// shown repeats the name of a place in an error: as it is, if that upsets no terminal and fits into a line.
func shown(place string) string {
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if len(place) > longestPlace || strings.ContainsFunc(place, odd) {
		return quote(place)
	}
	return place
}
