package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseItems(t *testing.T) {
	items, err := parseItems(" tcp, sctp ( streams = 10 , pml_lanes=4),tcp(links=2) ")
	require.NoError(t, err)
	assert.Equal(t, []item{
		{name: "tcp"},
		{name: "sctp", params: []pair{{"streams", "10"}, {"pml_lanes", "4"}}},
		{name: "tcp", params: []pair{{"links", "2"}}},
	}, items)
	assert.Equal(t, "sctp(streams=10,pml_lanes=4)", items[1].String())
	for text, want := range map[string]string{
		"":                "a name is missing",
		"tcp,,sctp":       "a name is missing",
		"tcp,(links=2)":   "a name is missing",
		"tcp(links=2":     "not closed",
		"tcp)":            "not open",
		"tcp((links=2))":  "within parentheses",
		"tcp(links=2)udp": "something follows the parenthesis",
		"tcp(links)":      `"links" is no parameter; want name=value, such as tcp(name=value)`,
		"tcp()":           `"" is no parameter`,
		"tcp(=2)":         `"=2" is no parameter`,
	} {
		_, err := parseItems(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// What is written is read back.
func TestItemsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z0-9_/.=]*[a-z]`)
		name := rapid.StringMatching(`[a-z][a-z0-9_]*`)
		var text string
		var want []item
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			i := item{name: name.Draw(t, "name")}
			for range rapid.IntRange(0, 3).Draw(t, "params") {
				i.params = append(i.params, pair{name.Draw(t, "key"), word.Draw(t, "value")})
			}
			want = append(want, i)
			if text != "" {
				text += ","
			}
			text += i.String()
		}
		got, err := parseItems(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// No text makes the parser panic, and what it takes it can write.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, err := parseItems(rapid.StringOf(rapid.RuneFrom([]rune("ab,()= "))).Draw(t, "text"))
		if err != nil {
			return
		}
		for _, i := range items {
			again, err := parseItems(i.String())
			require.NoError(t, err)
			require.Equal(t, []item{i}, again)
		}
	})
}
