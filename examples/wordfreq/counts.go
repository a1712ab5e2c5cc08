package main

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// counts says how often each word was seen. The numbers are behind pointers so
// that a known word costs no allocation.
type counts map[string]*uint64

func (c counts) add(word []byte, n uint64) {
	if p := c[string(word)]; p != nil {
		*p += n
		return
	}
	c[string(word)] = &n
}

// shortest is the number of bytes from which on a run of letters is a word.
const shortest = 3

// addText counts the words of a text: runs of letters, in lower case as far as
// they are ASCII. The text is changed.
func (c counts) addText(text []byte) {
	start := 0 // of the run of letters that ends at i
	for i := 0; i < len(text); {
		letter, size := isLetter(text, i)
		if !letter {
			c.addWord(text[start:i])
			start = i + size
		}
		i += size
	}
	c.addWord(text[start:])
}

func (c counts) addWord(word []byte) {
	if len(word) >= shortest {
		c.add(word, 1)
	}
}

// isLetter looks at the character at text[i:], which it makes small, and returns
// its size.
func isLetter(text []byte, i int) (letter bool, size int) {
	b := text[i]
	switch {
	case 'a' <= b && b <= 'z':
		return true, 1
	case 'A' <= b && b <= 'Z':
		text[i] = b + 'a' - 'A'
		return true, 1
	case b < utf8.RuneSelf:
		return false, 1
	}
	r, size := utf8.DecodeRune(text[i:])
	return unicode.IsLetter(r), size
}

func (c counts) merge(other counts) {
	for word, n := range other {
		c.add([]byte(word), *n)
	}
}

// words is the number of all words, known ones again and again.
func (c counts) words() (n uint64) {
	for _, p := range c {
		n += *p
	}
	return n
}

type frequency struct {
	word string
	n    uint64
}

// top returns the most frequent words.
func (c counts) top(n int) []frequency {
	all := make([]frequency, 0, len(c))
	for word, p := range c {
		all = append(all, frequency{word, *p})
	}
	slices.SortFunc(all, func(a, b frequency) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.word, b.word))
	})
	return all[:min(n, len(all))]
}

// difference describes one word that two counts do not agree about.
func (c counts) difference(other counts) error {
	for word, n := range c {
		switch p := other[word]; {
		case p == nil:
			return fmt.Errorf("the word %q is there %d times or never", word, *n)
		case *p != *n:
			return fmt.Errorf("the word %q is there %d times or %d times", word, *n, *p)
		}
	}
	for word, n := range other {
		if c[word] == nil {
			return fmt.Errorf("the word %q is there never or %d times", word, *n)
		}
	}
	return nil
}

// append writes the counts as a message: for each word its length, the word, its
// count, the numbers as varints.
func (c counts) append(b []byte) []byte {
	for word, n := range c {
		b = binary.AppendUvarint(b, uint64(len(word)))
		b = append(b, word...)
		b = binary.AppendUvarint(b, *n)
	}
	return b
}

var errResult = errors.New("malformed result")

// addMessage adds what append has written.
func (c counts) addMessage(b []byte) error {
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return errResult
		}
		word := b[n : n+int(size)]
		b = b[n+int(size):]
		times, n := binary.Uvarint(b)
		if n <= 0 {
			return errResult
		}
		b = b[n:]
		c.add(word, times)
	}
	return nil
}
