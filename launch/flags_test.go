package launch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/param"
)

func TestFlags(t *testing.T) {
	given := []param.Setting{
		{Name: "btl", Text: "tcp,self", Source: param.Source{Kind: param.Flag, Where: "--btl"}},
		{Name: "btl_tcp_if_include", Text: "10.0.0.0/8 & fe80::/10=x:y%20+", Source: param.Source{Kind: param.Flag, Where: "-i"}},
		{Name: "file", Text: "", Source: param.Source{Kind: param.Flag, Where: ""}},
		{Name: "odd", Text: "\xff\x00\n", Source: param.Source{Kind: param.Flag, Where: "-p"}},
	}
	t.Setenv(FlagsEnv, "-p:a=1")
	got, err := Flags()
	require.NoError(t, err)
	assert.Equal(t, []param.Setting{{Name: "a", Text: "1", Source: param.Source{Kind: param.Flag, Where: "-p"}}}, got)

	got, err = DecodeFlags(EncodeFlags(given))
	require.NoError(t, err)
	assert.Equal(t, given, got)

	got, err = DecodeFlags("")
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestFlagsRefused(t *testing.T) {
	for _, text := range []string{"&", "btl=tcp", "--btl:btl", ":=", "-p:a=%zz", "-p:a=1&", "-p:%=1"} {
		_, err := DecodeFlags(text)
		assert.ErrorContains(t, err, FlagsEnv, "%q", text)
	}
}

func TestFlagsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := func(low int) *rapid.Generator[string] {
			return rapid.Map(rapid.SliceOfN(rapid.Byte(), low, 20), func(b []byte) string { return string(b) })
		}
		given := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) param.Setting {
			return param.Setting{
				Name: bytes(1).Draw(t, "name"), Text: bytes(0).Draw(t, "text"),
				Source: param.Source{Kind: param.Flag, Where: bytes(0).Draw(t, "flag")},
			}
		}), 1, 5).Draw(t, "settings")
		got, err := DecodeFlags(EncodeFlags(given))
		if err != nil {
			t.Fatal(err)
		}
		assert.Equal(t, given, got)
	})
}

func FuzzDecodeFlags(f *testing.F) {
	f.Add("--btl:btl=tcp%2Cself&-p:a=")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := DecodeFlags(text)
		if err != nil {
			return
		}
		again, err := DecodeFlags(EncodeFlags(settings))
		require.NoError(t, err)
		require.Equal(t, settings, again)
	})
}
