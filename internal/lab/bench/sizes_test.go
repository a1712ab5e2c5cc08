package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSizes(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []int
	}{
		{"8", []int{8}},
		{"0", []int{0}},
		{"8,64K,1M", []int{8, 64 << 10, 1 << 20}},
		{" 8 , 16 ", []int{8, 16}},
		{"1:8", []int{1, 2, 4, 8}},
		{"3:20", []int{3, 6, 12}},
		{"5:5", []int{5}},
		{"8,1K:4K,1M", []int{8, 1 << 10, 2 << 10, 4 << 10, 1 << 20}},
		{"1G", []int{1 << 30}},
		{"512M:1G", []int{512 << 20, 1 << 30}},
	} {
		got, err := ParseSizes(tc.text)
		require.NoError(t, err, tc.text)
		assert.Equal(t, tc.want, got, tc.text)
	}
}

func TestBadSizes(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", "a size is missing"},
		{"8,,16", "a size is missing"},
		{"8:", "a size is missing"},
		{"eight", `--sizes "eight": "eight"`},
		{"-1", `"-1"`},
		{"2G", `"2G": a message has 0 to 1G bytes here`},
		{"0:8", "a range starts at 1 or more"},
		{"8:4", "write the smaller number first"},
		{"1:2:4", `"2:4"`},
	} {
		_, err := ParseSizes(tc.text)
		assert.ErrorContains(t, err, tc.want, tc.text)
	}
}

func TestDefaultSizes(t *testing.T) {
	assert.Equal(t, []int{8}, Rate.DefaultSizes(false))
	assert.Equal(t, []int{8, 64 << 10, 1 << 20}, PingPong.DefaultSizes(true))
	all := PingPong.DefaultSizes(false)
	assert.Equal(t, 1, all[0])
	assert.Equal(t, 4<<20, all[len(all)-1])
	assert.Len(t, all, 23)
}
