package bench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/strandmp/strand/param"
)

// maxSize is the largest message that is measured, in bytes.
const maxSize = 1 << 30

// ParseSizes reads a list of message sizes such as 8,64K,1M. An item may be a
// range, 1:4M, which stands for its lower end doubled until it exceeds the upper
// one.
func ParseSizes(text string) ([]int, error) { return parseList("--sizes", text, parseSize) }

// ParseCounts reads what a flag says, a list of numbers from 1 on such as 1,16,64 or 1:256, with
// ranges as in [ParseSizes].
func ParseCounts(flag, text, what string, most int) ([]int, error) {
	return parseList(flag, text, func(item string) (int, error) {
		n, err := strconv.Atoi(item)
		if err != nil || n < 1 || n > most {
			return 0, fmt.Errorf("want 1 to %d %s, or several such as 1,16 or 1:%d", most, what, min(most, 256))
		}
		return n, nil
	})
}

func parseList(flag, text string, parse func(string) (int, error)) ([]int, error) {
	var all []int
	for item := range strings.SplitSeq(text, ",") {
		some, err := parseItem(strings.TrimSpace(item), parse)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", flag, text, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func parseItem(item string, parse func(string) (int, error)) ([]int, error) {
	low, high, isRange := strings.Cut(item, ":")
	from, err := parse(low)
	if err != nil || !isRange {
		return []int{from}, err
	}
	to, err := parse(high)
	switch {
	case err != nil:
		return nil, err
	case from == 0:
		return nil, fmt.Errorf("%q: a range starts at 1 or more: 0 doubled is 0", item)
	case to < from:
		return nil, fmt.Errorf("%q: the range ends below its start; write the smaller number first", item)
	}
	return powersOfTwo(from, to), nil
}

func parseSize(text string) (int, error) {
	if text == "" {
		return 0, errors.New("a size is missing; want sizes such as 8,64K,1M or a range such as 1:4M")
	}
	n, err := param.ParseSize(text)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", text, err)
	}
	if n < 0 || n > maxSize {
		return 0, fmt.Errorf("%q: a message has 0 to %s bytes here", text, param.FormatSize(maxSize))
	}
	return int(n), nil
}

// powersOfTwo returns from, doubled as long as it does not exceed to.
func powersOfTwo(from, to int) []int {
	var sizes []int
	for n := int64(from); n <= int64(to); n *= 2 {
		sizes = append(sizes, int(n))
	}
	return sizes
}
