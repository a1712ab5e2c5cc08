package param

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse reads a value of the parameter and checks it against what is allowed.
// The result is an int, int64 (Size), time.Duration, bool, string or []string.
// The error says what is wrong and what is allowed; the caller adds name,
// text and source.
func (s *Spec) parse(text string) (any, error) {
	switch s.Kind {
	case Int:
		return parseBounded(s, text, parseInt)
	case Size:
		return parseBounded(s, text, ParseSize)
	case Duration:
		return parseBounded(s, text, parseDuration)
	case Bool:
		return parseBool(text)
	case String:
		return text, nil
	case Enum:
		return s.parseChoice(text)
	case List:
		return parseList(text)
	}
	return nil, fmt.Errorf("no such kind: %v", s.Kind)
}

// parseBounded reads a value and checks it against the Spec's bounds.
func parseBounded[T cmp.Ordered](s *Spec, text string, read func(string) (T, error)) (any, error) {
	value, err := read(text)
	if allowed := s.Allowed(); err != nil && allowed != "" {
		return nil, fmt.Errorf("%w; allowed: %s", err, allowed)
	} else if err != nil {
		return nil, err
	}
	if s.Min != "" {
		if least, err := read(s.Min); err != nil {
			return nil, fmt.Errorf("minimum %q: %w", s.Min, err)
		} else if value < least {
			return nil, fmt.Errorf("below the minimum %s", s.Min)
		}
	}
	if s.Max != "" {
		if most, err := read(s.Max); err != nil {
			return nil, fmt.Errorf("maximum %q: %w", s.Max, err)
		} else if value > most {
			return nil, fmt.Errorf("above the maximum %s", s.Max)
		}
	}
	return value, nil
}

func parseInt(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("too far from zero: a number has to fit into an int of this machine")
	}
	if err != nil {
		return 0, errors.New("not a whole number: write decimal digits, as in 12")
	}
	return n, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("not a duration: write numbers with a unit (ns, us, ms, s, m, h), as in 500ms or 1m30s; at most 292 years")
	}
	return d, nil
}

func parseBool(text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return nil, errors.New("neither true nor false: write true or false (yes or no, on or off, 1 or 0)")
}

func (s *Spec) parseChoice(text string) (any, error) {
	if slices.Contains(s.Choices, text) {
		return text, nil
	}
	return nil, fmt.Errorf("none of the choices: %s", strings.Join(s.Choices, ", "))
}

func parseList(text string) (any, error) {
	if strings.TrimSpace(text) == "" {
		return []string{}, nil
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
		if items[i] == "" {
			return nil, fmt.Errorf("item %d of %d is empty: write items separated by single commas, as in a,b", i+1, len(items))
		}
	}
	return items, nil
}

// sameValue reports whether two results of parse mean the same.
func sameValue(a, b any) bool { return reflect.DeepEqual(a, b) }
