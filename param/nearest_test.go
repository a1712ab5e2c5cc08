package param

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "abd", 1}, {"abc", "abcd", 1}, {"abc", "bc", 1}, {"abc", "acb", 1},
		{"kitten", "sitting", 3}, {"ca", "abc", 3}, {"abcd", "badc", 2},
	} {
		require.Equal(t, test.want, distance(test.a, test.b), "%q %q", test.a, test.b)
	}
}

func TestDistanceProperties(t *testing.T) {
	word := rapid.StringMatching(`[ab_]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		require.Equal(t, d, distance(b, a))
		require.Equal(t, a == b, d == 0)
		require.LessOrEqual(t, d, max(len(a), len(b)))
		require.GreaterOrEqual(t, d, max(len(a)-len(b), len(b)-len(a)))
	})
}

func TestNearest(t *testing.T) {
	names := []string{"btl", "pml", "btl_tcp_if_include", "btl_tcp_if_exclude", "btl_udp_mtu"}
	for name, want := range map[string]string{
		"btl_tcp_if_inclde":           "btl_tcp_if_include",
		"btl_tcp_if_ecxlude":          "btl_tcp_if_exclude",
		"btl_tcp_if_clude":            "btl_tcp_if_exclude", // as near as include, and before it
		"BTL_UDP_MTU":                 "btl_udp_mtu",
		"btl-udp-mtu":                 "btl_udp_mtu",
		"blt":                         "btl",
		"xml":                         "pml",
		"if_include":                  "",
		"":                            "",
		strings.Repeat("btl", 100000): "",
	} {
		require.Equal(t, want, Nearest(name, slices.Values(names)))
		slices.Reverse(names)
		require.Equal(t, want, Nearest(name, slices.Values(names)), "in whatever order the names come")
	}
}
