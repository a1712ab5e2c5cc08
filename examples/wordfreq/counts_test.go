package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAddText(t *testing.T) {
	for text, want := range map[string]map[string]uint64{
		"":                      {},
		"if x == 0x1F { y }":    {},
		"The the THE":           {"the": 3},
		"return\nerr\treturned": {"return": 1, "err": 1, "returned": 1},
		"snake_case camelCase":  {"snake": 1, "case": 1, "camelcase": 1},
		"größer—größer\xff123":  {"größer": 2},
		"words at the end":      {"words": 1, "the": 1, "end": 1},
	} {
		c := make(counts)
		c.addText([]byte(text))
		assert.Equal(t, want, plain(c), "%q", text)
	}
}

func plain(c counts) map[string]uint64 {
	m := make(map[string]uint64)
	for word, n := range c {
		m[word] = *n
	}
	return m
}

func drawCounts(t *rapid.T, label string) counts {
	c := make(counts)
	for word, n := range rapid.MapOf(rapid.String(), rapid.Uint64Range(1, 1<<40)).Draw(t, label) {
		c.add([]byte(word), n)
	}
	return c
}

// Counts survive the way through messages, in parts too.
func TestMessagesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawCounts(t, "a"), drawCounts(t, "b")
		together, merged := make(counts), make(counts)
		require.NoError(t, together.addMessage(a.append(nil)))
		require.NoError(t, together.addMessage(b.append(nil)))
		merged.merge(a)
		merged.merge(b)
		require.NoError(t, together.difference(merged))
		require.Equal(t, a.words()+b.words(), together.words())
	})
}

// A difference in either direction, or in a number, is found.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawCounts(t, "a")
		b := make(counts)
		b.merge(a)
		require.NoError(t, a.difference(b))
		b.add([]byte(rapid.String().Draw(t, "word")), 1)
		require.Error(t, a.difference(b))
		require.Error(t, b.difference(a))
	})
}

func TestTop(t *testing.T) {
	c := make(counts)
	c.addText([]byte("bee ant bee cat ant dog bee"))
	assert.Equal(t, []frequency{{"bee", 3}, {"ant", 2}, {"cat", 1}}, c.top(3))
	assert.Len(t, c.top(10), 4)
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		assert.Equal(t, want, grouped(n))
	}
}

func FuzzAddMessage(f *testing.F) {
	c := make(counts)
	c.addText([]byte("some words some more words"))
	f.Add(c.append(nil))
	f.Add([]byte{200, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := make(counts)
		if err := c.addMessage(b); err != nil {
			require.ErrorIs(t, err, errResult)
			return
		}
		again := make(counts)
		require.NoError(t, again.addMessage(c.append(nil)))
		require.NoError(t, c.difference(again))
	})
}
