package param

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseFile(t *testing.T) {
	tests := []struct{ name, contents, want string }{
		{"empty", "", ""},
		{"comments and blanks", "# a\n\n   \n\t# b = c\n", ""},
		{"plain", "a = b", "1 a=[b]"},
		{"no spaces", "a=b\nc=d\n", "1 a=[b] 2 c=[d]"},
		{"many spaces", "\t a \t=  b c \t\n", "1 a=[b c]"},
		{"no value", "a =\nb = # none", "1 a=[] 2 b=[]"},
		{"equals in the value", "a = b=c", "1 a=[b=c]"},
		{"comment after the value", "a = b # c", "1 a=[b]"},
		{"hash inside a word", "a = b#c", "1 a=[b#c]"},
		{"double quotes", `a = " b # \t\"c\" "  # d`, "1 a=[ b # \t\"c\" ]"},
		{"single quotes", `a = ' b # \t "c" '#d`, `1 a=[ b # \t "c" ]`},
		{"quotes inside a value", `a = it's "so"`, `1 a=[it's "so"]`},
		{"CR LF", "a = b\r\n\r\n# c\r\nd = \"e\"\r\n", "1 a=[b] 4 d=[e]"},
		{"byte order mark", "\ufeffa = b", "1 a=[b]"},
		{"other letters", "a = äöü # ß", "1 a=[äöü]"},
		{"bad name, for the registry to refuse", "A-b c = d", "1 A-b c=[d]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			settings, wrong := parseFile("f", []byte(test.contents))
			require.Empty(t, wrong)
			var got []string
			for _, s := range settings {
				require.Equal(t, File, s.Source.Kind)
				got = append(got, fmt.Sprintf("%s %s=[%s]", strings.TrimPrefix(s.Source.Where, "f:"), s.Name, s.Text))
			}
			require.Equal(t, test.want, strings.Join(got, " "))
		})
	}
}

func TestParseFileMistakes(t *testing.T) {
	tests := []struct{ line, want string }{
		{"btl tcp", `f:2: "btl tcp": write name = value, or # before a comment`},
		{"[section]", `f:2: "[section]": write name = value, or # before a comment`},
		{" = tcp", `f:2: "= tcp": write name = value, or # before a comment`},
		{`a = "b`, `f:2: "\"b": the quote is not closed or has a bad escape: end the value with ", and write \ as \\`},
		{`a = "\z"`, `f:2: "\"\\z\"": the quote is not closed or has a bad escape: end the value with ", and write \ as \\`},
		{`a = 'b`, `f:2: "'b": the quote is not closed: end the value with '`},
		{`a = "b" c`, `f:2: "c" after the closing quote: write it inside the quotes, or # before a comment`},
		{`a = 'b'c # d`, `f:2: "c # d" after the closing quote: write it inside the quotes, or # before a comment`},
		{"a = \x1b[31m", `f:2: control character at byte 5 of "a = \x1b[31m": write it as an escape between double quotes`},
		{"a = b\rc = d", `f:2: control character at byte 6 of "a = b\rc = d": write it as an escape between double quotes`},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			settings, wrong := parseFile("f", []byte("x = 1\n"+test.line+"\ny = 2\n"))
			require.Len(t, settings, 2, "the lines around it are read all the same")
			require.Len(t, wrong, 1)
			require.EqualError(t, wrong[0], test.want)
		})
	}
}

// Any text can be written in a file, between quotes.
func TestQuotedValuesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		settings, wrong := parseFile("f", []byte("a = "+strconv.Quote(want)+" # comment"))
		require.Empty(t, wrong)
		require.Len(t, settings, 1)
		require.Equal(t, want, settings[0].Text)
	})
}

// FuzzFile holds that every line is either understood, with its right number,
// or reported, and that what was understood can be written and read again.
func FuzzFile(f *testing.F) {
	for _, contents := range []string{
		"", "a = b\n", "# c\r\na = 'b' # c\r\n", "\ufeffa=\"\\x00\"", "a = \"b", "a\x00", "\xff", "=", "a = #", "a = b#c\rd", "a = \u00a0# b",
	} {
		f.Add([]byte(contents))
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		settings, wrong := parseFile("f", contents)
		lines := strings.Count(string(contents), "\n") + 1
		require.LessOrEqual(t, len(settings)+len(wrong), lines)
		for _, err := range wrong {
			require.NotContains(t, err.Error(), "\n")
		}
		var again strings.Builder
		for _, s := range settings {
			number, err := strconv.Atoi(strings.TrimPrefix(s.Source.Where, "f:"))
			require.NoError(t, err)
			require.True(t, 1 <= number && number <= lines)
			fmt.Fprintf(&again, "%s=%s\n", s.Name, strconv.Quote(s.Text))
		}
		reread, wrong := parseFile("f", []byte(again.String()))
		require.Empty(t, wrong)
		require.Len(t, reread, len(settings))
		for i, s := range reread {
			require.Equal(t, settings[i].Name, s.Name)
			require.Equal(t, settings[i].Text, s.Text)
		}
	})
}
