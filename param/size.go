package param

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// sizeSuffixes are the powers of 1024 above 1, smallest first.
const sizeSuffixes = "KMGT"

var errSizeSyntax = errors.New("not a size: write digits, optionally followed by K, M, G or T (powers of 1024), as in 64K")

// ParseSize reads a number of bytes: digits, optionally followed by K, M, G or
// T in either case, which multiply by 1024, 1024², 1024³, 1024⁴.
func ParseSize(text string) (int64, error) {
	digits, shift := text, 0
	if n := len(text); n > 0 {
		if power := suffixPower(text[n-1]); power > 0 {
			digits, shift = text[:n-1], 10*power
		}
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, errSizeSyntax
		}
	}
	if digits == "" {
		return 0, errSizeSyntax
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("too large: a size is at most %d bytes", int64(math.MaxInt64))
	}
	return n << shift, nil
}

// suffixPower returns the power of 1024 that a suffix stands for, 0 if it is none.
func suffixPower(c byte) int {
	for i := range len(sizeSuffixes) {
		if c == sizeSuffixes[i] || c == sizeSuffixes[i]+('a'-'A') {
			return i + 1
		}
	}
	return 0
}

// FormatSize writes a number of bytes in the shortest exact form that
// [ParseSize] reads back: 65536 is "64K", 65537 is "65537".
func FormatSize(n int64) string {
	power := 0
	for n != 0 && n%1024 == 0 && power < len(sizeSuffixes) {
		n /= 1024
		power++
	}
	text := strconv.FormatInt(n, 10)
	if power > 0 {
		text += sizeSuffixes[power-1 : power]
	}
	return text
}
