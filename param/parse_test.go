package param

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseGoodValues(t *testing.T) {
	for _, test := range []struct {
		spec Spec
		text string
		want any
	}{
		{Spec{Kind: Int}, "-12", -12},
		{Spec{Kind: Int, Min: "1", Max: "1"}, "1", 1},
		{Spec{Kind: Size, Min: "1K", Max: "1M"}, "1024", int64(1024)},
		{Spec{Kind: Size, Min: "1K", Max: "1M"}, "1024K", int64(1 << 20)},
		{Spec{Kind: Duration}, "1m30s", 90 * time.Second},
		{Spec{Kind: Duration}, "0", time.Duration(0)},
		{Spec{Kind: Bool}, "Yes", true},
		{Spec{Kind: Bool}, "on", true},
		{Spec{Kind: Bool}, "1", true},
		{Spec{Kind: Bool}, "TRUE", true},
		{Spec{Kind: Bool}, "no", false},
		{Spec{Kind: Bool}, "off", false},
		{Spec{Kind: Bool}, "0", false},
		{Spec{Kind: Bool}, "false", false},
		{Spec{Kind: String}, " any = thing\n", " any = thing\n"},
		{Spec{Kind: Enum, Choices: []string{"a", "b"}}, "b", "b"},
		{Spec{Kind: List}, "", []string{}},
		{Spec{Kind: List}, " ", []string{}},
		{Spec{Kind: List}, "eth0, 10.0.0.0/8 ,^lo", []string{"eth0", "10.0.0.0/8", "^lo"}},
	} {
		got, err := test.spec.parse(test.text)
		require.NoError(t, err, "%v %q", test.spec.Kind, test.text)
		require.Equal(t, test.want, got, "%v %q", test.spec.Kind, test.text)
	}
}

func TestParseBadValues(t *testing.T) {
	for _, test := range []struct {
		spec       Spec
		text, want string
	}{
		{Spec{Kind: Int}, "1.5", "not a whole number: write decimal digits, as in 12"},
		{Spec{Kind: Int}, "99999999999999999999", "too far from zero: a number has to fit into an int of this machine"},
		{Spec{Kind: Int, Min: "1", Max: "9"}, "1e3", "not a whole number: write decimal digits, as in 12; allowed: 1 to 9"},
		{Spec{Kind: Size, Max: "1G"}, "9999999999T", "too large: a size is at most 9223372036854775807 bytes; allowed: at most 1G"},
		{Spec{Kind: Duration, Min: "1ms", Max: "1h"}, "9999999h",
			"not a duration: write numbers with a unit (ns, us, ms, s, m, h), as in 500ms or 1m30s; at most 292 years; allowed: 1ms to 1h"},
		{Spec{Kind: Int, Min: "3"}, "2", "below the minimum 3"},
		{Spec{Kind: Int, Max: "3"}, "4", "above the maximum 3"},
		{Spec{Kind: Size, Max: "1M"}, "1048577", "above the maximum 1M"},
		{Spec{Kind: Size}, "64KiB", errSizeSyntax.Error()},
		{Spec{Kind: Duration}, "5", "not a duration: write numbers with a unit (ns, us, ms, s, m, h), as in 500ms or 1m30s; at most 292 years"},
		{Spec{Kind: Bool}, "maybe", "neither true nor false: write true or false (yes or no, on or off, 1 or 0)"},
		{Spec{Kind: Enum, Choices: []string{"a", "b"}}, "A", "none of the choices: a, b"},
		{Spec{Kind: List}, "tcp,,self", "item 2 of 3 is empty: write items separated by single commas, as in a,b"},
		{Spec{Kind: List}, "tcp,", "item 2 of 2 is empty: write items separated by single commas, as in a,b"},
	} {
		_, err := test.spec.parse(test.text)
		require.EqualError(t, err, test.want, "%v %q", test.spec.Kind, test.text)
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64().Draw(t, "ns"))
		got, err := (&Spec{Kind: Duration}).parse(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestListRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[!-+\--~]([ -+\--~]*[!-+\--~])?`)).Draw(t, "items")
		got, err := (&Spec{Kind: List}).parse(strings.Join(want, " , "))
		require.NoError(t, err)
		require.Equal(t, append([]string{}, want...), got)
	})
}

// FuzzValue holds that a value of any kind is read or refused with a reason,
// and that what is read respects the bounds.
func FuzzValue(f *testing.F) {
	for kind := Int; kind <= List; kind++ {
		for _, text := range []string{"", "1", "-1", "64K", "500ms", "true", "a", "a,b,,", "9223372036854775808"} {
			f.Add(uint8(kind), text)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		spec := Spec{Kind: Kind(kind)}
		switch spec.Kind {
		case Int:
			spec.Min, spec.Max = "-5", "100"
		case Size:
			spec.Max = "1M"
		case Duration:
			spec.Min, spec.Max = "1ms", "1h"
		case Enum:
			spec.Choices = []string{"a", "b"}
		}
		value, err := spec.parse(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		switch value := value.(type) {
		case int:
			require.True(t, -5 <= value && value <= 100)
		case int64:
			require.True(t, 0 <= value && value <= 1<<20)
		case time.Duration:
			require.True(t, time.Millisecond <= value && value <= time.Hour)
		case []string:
			require.NotContains(t, value, "")
		}
	})
}
