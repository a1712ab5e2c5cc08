package wirepage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPage(t *testing.T) {
	assert.Len(t, Sizes(t), 30)
}

func TestParse(t *testing.T) {
	const good = "### ONE TWO, a header: 8 bytes\n\n| at | bytes |\n|---|---|\n| 0 | 4 | a |\n| 4 | 4 | b |\n| – | n | c |\n### BARE, none: 3 bytes\n"
	sizes, err := parse(good)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"ONE TWO": 8, "BARE": 3}, sizes)

	_, err = parse("### GAP, a header: 8 bytes\n| 0 | 2 | a |\n| 4 | 4 | b |\n")
	require.ErrorContains(t, err, "a field is at 4, the one before it ends at 2")
	_, err = parse("### SHORT, a header: 8 bytes\n| 0 | 2 | a |\n")
	require.ErrorContains(t, err, "take 2 bytes, the heading says 8")
}

func TestPower(t *testing.T) {
	assert.Equal(t, "2⁰ 2¹⁶ 2²⁰ 2³⁰", Power(1)+" "+Power(1<<16)+" "+Power(1<<20)+" "+Power(1<<30))
}

func TestVectors(t *testing.T) {
	const page = "| a | `00ff` |\n\n| vector | bytes |\n|---|---|\n| one | `00ff` |\n| two | `11` |\n\n| three | `22` |\n"
	assert.Equal(t, map[string]string{"one": "00ff", "two": "11"}, vectors(page))
}
