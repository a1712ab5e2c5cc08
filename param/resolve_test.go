package param

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDefaults(t *testing.T) {
	v, err := testRegistry().Resolve(Inputs{})
	require.NoError(t, err)
	require.Equal(t, []string{"tcp", "self"}, v.List("btl"))
	require.Empty(t, v.List("btl_tcp_if_include"))
	require.Equal(t, 0, v.Int("btl_tcp_port_min"))
	require.Equal(t, 30*time.Second, v.Duration("btl_tcp_connect_timeout"))
	require.Equal(t, int64(65536), v.Size("pml_eager_limit"))
	require.False(t, v.Bool("pml_checksum"))
	require.Equal(t, "weighted", v.String("reach_policy"))
	require.Equal(t, "", v.String("job_name"))
	require.Equal(t, Source{Kind: Default}, v.Value("btl").Source)
}

func TestTheZeroRegistryIsReady(t *testing.T) {
	var r Registry
	require.Empty(t, r.Specs())
	v, err := r.Resolve(Inputs{})
	require.NoError(t, err)
	require.Empty(t, v.All())
}

func TestSourceIsRemembered(t *testing.T) {
	path := writeFile(t, "strand.conf", "# ports\n\nbtl_tcp_port_min = 1024\n")
	v, err := testRegistry().Resolve(Inputs{
		Settings: []Setting{
			{Name: "btl", Text: "self", Source: Source{Flag, "--btl"}},
			{Name: "job_name", Text: "demo"},
		},
		Environ: []string{"STRAND_PML_EAGER_LIMIT=4k", "HOME=/root", "STRANDED=1", "STRAND_LAUNCH_ID=7"},
		Files:   []string{path},
	})
	require.NoError(t, err)
	for name, want := range map[string]struct {
		text   string
		source Source
		prints string
	}{
		"btl":              {"self", Source{Flag, "--btl"}, "--btl"},
		"job_name":         {"demo", Source{Option, ""}, "a program option"},
		"pml_eager_limit":  {"4k", Source{Environment, "STRAND_PML_EAGER_LIMIT"}, "the environment, STRAND_PML_EAGER_LIMIT"},
		"btl_tcp_port_min": {"1024", Source{File, path + ":3"}, path + ":3"},
		"reach_policy":     {"weighted", Source{}, "the default"},
	} {
		got := v.Value(name)
		require.Equal(t, want.text, got.Text, name)
		require.Equal(t, want.source, got.Source, name)
		require.Equal(t, want.prints, got.Source.String(), name)
	}
	require.Equal(t, int64(4096), v.Size("pml_eager_limit"))
}

// Any set of places may set a parameter; the strongest of them decides.
func TestTheStrongestSourceWins(t *testing.T) {
	names := []string{"default", "second.conf", "first.conf", "environment", "option", "flag"}
	for set := range 1 << (len(names) - 1) {
		has := func(place int) bool { return set&(1<<(place-1)) != 0 }
		var in Inputs
		strongest := "default"
		for place := 1; place < len(names); place++ {
			name := names[place]
			if !has(place) {
				continue
			}
			strongest = name
			switch name {
			case "flag":
				in.Settings = append(in.Settings, flag("job_name", name))
			case "option":
				in.Settings = append(in.Settings, option("job_name", name))
			case "environment":
				in.Environ = append(in.Environ, "STRAND_JOB_NAME="+name)
			case "first.conf":
				in.Files = append(in.Files, writeFile(t, name, "job_name = "+name))
			case "second.conf":
				in.Optional = append(in.Optional, writeFile(t, name, "job_name = "+name))
			}
		}
		r := NewRegistry()
		r.Declare(Spec{Name: "job_name", Kind: String, Default: "default", Help: "h"})
		v, err := r.Resolve(in)
		require.NoError(t, err)
		require.Equal(t, strongest, v.String("job_name"), "%v", in)
	}
}

// Settings of many ranks in any order: the value is that of the highest rank.
func TestPrecedenceProperty(t *testing.T) {
	r := testRegistry()
	rapid.Check(t, func(t *rapid.T) {
		perKind := rapid.MapOf(rapid.SampledFrom([]SourceKind{File, Environment, Option, Flag}), rapid.IntRange(0, 65535)).Draw(t, "perKind")
		var settings []Setting
		strongest, want := Default, 0
		for kind, port := range perKind {
			// Said twice, in two ways, is no contradiction.
			settings = append(settings,
				Setting{"btl_tcp_port_min", fmt.Sprint(port), Source{kind, "a"}},
				Setting{"btl_tcp_port_min", fmt.Sprintf("0%d", port), Source{kind, "b"}})
			if kind > strongest {
				strongest, want = kind, port
			}
		}
		v, err := r.Resolve(Inputs{Settings: rapid.Permutation(settings).Draw(t, "order")})
		require.NoError(t, err)
		require.Equal(t, want, v.Int("btl_tcp_port_min"))
		require.Equal(t, strongest, v.Value("btl_tcp_port_min").Source.Kind)
	})
}

// What is set may be as much as the other parameter; a default may be more, since nobody has asked
// for it; and where the other is not declared nothing is compared.
func TestAtMost(t *testing.T) {
	streams := Spec{Name: "btl_sctp_streams", Kind: Int, Default: "10", AtMost: "pml_lanes", Help: "Streams."}
	alone, both := NewRegistry(), NewRegistry()
	alone.Declare(streams)
	both.Declare(streams, Spec{Name: "pml_lanes", Kind: Int, Default: "10", Help: "Lanes."})

	_, err := alone.Resolve(Inputs{Settings: []Setting{flag("btl_sctp_streams", "64")}})
	require.NoError(t, err)
	for _, settings := range [][]Setting{
		nil,
		{flag("btl_sctp_streams", "10")},
		{flag("btl_sctp_streams", "64"), option("pml_lanes", "64")},
		{flag("pml_lanes", "1")},
	} {
		_, err := both.Resolve(Inputs{Settings: settings})
		require.NoError(t, err)
	}
	const why = ", and what is beyond that would never be used: raise the one or lower the other"
	_, err = both.Resolve(Inputs{Settings: []Setting{flag("btl_sctp_streams", "12")}})
	require.EqualError(t, err, `btl_sctp_streams = "12" (from -p) is more than pml_lanes = "10" (from the default)`+why)
	_, err = both.Resolve(Inputs{Settings: []Setting{option("btl_sctp_streams", "5"), flag("pml_lanes", "4")}})
	require.EqualError(t, err, `btl_sctp_streams = "5" (from strand.Param) is more than pml_lanes = "4" (from -p)`+why)
	values, err := both.Resolve(Inputs{})
	require.NoError(t, err)
	_, err = values.With(flag("btl_sctp_streams", "11"))
	require.ErrorContains(t, err, "is more than pml_lanes")
	require.Panics(t, func() {
		NewRegistry().Declare(Spec{Name: "a_size", Kind: Size, Default: "1K", AtMost: "pml_lanes", Help: "A size."})
	})
}

// What is like a parameter of another transport only was not meant to be that one.
func TestNearNameOfTheSameTransport(t *testing.T) {
	r := NewRegistry()
	for _, name := range []string{"btl_sm_max_send_size", "btl_tcp_max_frag", "btl_sctp_mtu", "btl_udp_max_frag", "btl_udp_window"} {
		r.Declare(Spec{Name: name, Kind: Int, Default: "1", Help: "A number."})
	}
	for name, want := range map[string]string{
		"btl_tcp_max_send_size": "no parameter has a name like it",
		"btl_udp_mtu":           "no parameter has a name like it",
		"btl_udp_widnow":        "did you mean btl_udp_window?",
		"btl_TCP_max_fragm":     "did you mean btl_tcp_max_frag?",
		"btl_scpt_mtu":          "did you mean btl_sctp_mtu?", // there is no such transport
	} {
		_, err := r.Resolve(Inputs{Settings: []Setting{flag(name, "1")}})
		require.ErrorContains(t, err, want, name)
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name string
		in   Inputs
		want []string
	}{
		{"unknown, with a near name", Inputs{Environ: []string{"STRAND_BTL_TCP_IF_INCLDE=eth0"}},
			[]string{"btl_tcp_if_inclde (from the environment, STRAND_BTL_TCP_IF_INCLDE): unknown; did you mean btl_tcp_if_include?"}},
		{"unknown, letters swapped", Inputs{Settings: []Setting{flag("btl_tpc_links", "2")}},
			[]string{"btl_tpc_links (from -p): unknown; did you mean btl_tcp_links?"}},
		{"unknown, in capitals", Inputs{Settings: []Setting{flag("BTL", "tcp")}},
			[]string{`"BTL" (from -p): unknown; did you mean btl?`}},
		{"unknown, nothing near", Inputs{Settings: []Setting{option("colour", "red")}},
			[]string{`colour (from strand.Param): unknown, and no parameter has a name like it; "strand info" lists them all`}},
		{"unknown, unprintable and long", Inputs{Settings: []Setting{flag("\x1b[2J!"+strings.Repeat("é", 100), "1")}},
			[]string{`"\x1b[2J!` + strings.Repeat("é", 37) + `"… (205 bytes) (from -p): unknown, and no parameter has a name like it; "strand info" lists them all`}},
		{"above", Inputs{Settings: []Setting{flag("btl_tcp_port_min", "99999")}},
			[]string{`btl_tcp_port_min = "99999" (from -p): above the maximum 65535`}},
		{"below", Inputs{Settings: []Setting{flag("btl_tcp_connect_timeout", "0s")}},
			[]string{`btl_tcp_connect_timeout = "0s" (from -p): below the minimum 1ms`}},
		{"no choice", Inputs{Environ: []string{"STRAND_REACH_POLICY=best"}},
			[]string{`reach_policy = "best" (from the environment, STRAND_REACH_POLICY): none of the choices: weighted, simple`}},
		{"no text at all", Inputs{Environ: []string{"STRAND_PML_CHECKSUM="}},
			[]string{`pml_checksum = "" (from the environment, STRAND_PML_CHECKSUM): neither true nor false: write true or false (yes or no, on or off, 1 or 0)`}},
		{"flags contradict", Inputs{Settings: []Setting{{"btl", "tcp", Source{Flag, "--btl"}}, flag("btl", "self")}},
			[]string{`btl = "self" (from -p) contradicts "tcp" (from --btl): give only one of them`}},
		{"variables contradict", Inputs{Environ: []string{"STRAND_BTL=tcp", "STRAND_btl=self"}},
			[]string{`btl = "self" (from the environment, STRAND_btl) contradicts "tcp" (from the environment, STRAND_BTL): give only one of them`}},
		{"all at once, overridden ones too", Inputs{
			Settings: []Setting{flag("btl_tcp_links", "1"), option("btl_tcp_links", "many")},
			Environ:  []string{"STRAND_BTL_TCP_LINKS=0", "STRAND_BTL_UDP=1"}},
			[]string{
				`btl_tcp_links = "0" (from the environment, STRAND_BTL_TCP_LINKS): below the minimum 1`,
				`btl_udp (from the environment, STRAND_BTL_UDP): unknown, and no parameter has a name like it; "strand info" lists them all`,
				`btl_tcp_links = "many" (from strand.Param): not a whole number: write decimal digits, as in 12; allowed: at least 1`,
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := testRegistry().Resolve(test.in)
			require.Error(t, err)
			require.Equal(t, test.want, mistakes(t, err))
		})
	}
}

func TestContradictionInOneFile(t *testing.T) {
	path := writeFile(t, "strand.conf", "btl = tcp\nbtl_tcp_links = 2\nbtl = self\nbtl_tcp_links = 2\n")
	_, err := testRegistry().Resolve(Inputs{Files: []string{path}})
	require.Equal(t, []string{fmt.Sprintf(
		`btl = "self" (from %s:3) contradicts "tcp" (from %s:1): give only one of them`, path, path)}, mistakes(t, err))
}

func TestManyMistakesAreCutOff(t *testing.T) {
	var environ []string
	for i := range maxMistakes + 7 {
		environ = append(environ, fmt.Sprintf("STRAND_X%d=1", i))
	}
	_, err := testRegistry().Resolve(Inputs{Environ: environ})
	texts := mistakes(t, err)
	require.Len(t, texts, maxMistakes+1)
	require.Equal(t, "7 more mistakes", texts[maxMistakes])
}

func TestWith(t *testing.T) {
	v, err := testRegistry().Resolve(Inputs{Settings: []Setting{flag("btl", "tcp"), flag("btl_tcp_links", "2")}})
	require.NoError(t, err)

	derived, err := v.With(Setting{Name: "btl", Text: "self"})
	require.NoError(t, err)
	require.Equal(t, []string{"self"}, derived.List("btl"))
	require.Equal(t, 2, derived.Int("btl_tcp_links"))
	require.Equal(t, []string{"tcp"}, v.List("btl"), "the values derived from never change")

	_, err = v.With(Setting{Name: "btl_tcp_linsk", Text: "2"}, Setting{Name: "pml_checksum", Text: "maybe"})
	require.Len(t, mistakes(t, err), 2)
}

func TestFlagsOfTheLauncherKeepTheirRank(t *testing.T) {
	entry := FlagsEnv([]Setting{{"btl", `"tcp" = self`, Source{Flag, "--btl"}}, flag("job_name", "from run")})
	v, err := testRegistry().Resolve(Inputs{
		Settings: []Setting{option("job_name", "from program")},
		Environ:  []string{"STRAND_JOB_NAME=from environment", entry},
	})
	require.NoError(t, err)
	require.Equal(t, "from run", v.String("job_name"))
	require.Equal(t, Source{Flag, "--btl"}, v.Value("btl").Source)
	require.Equal(t, `"tcp" = self`, v.Value("btl").Text)

	_, err = testRegistry().Resolve(Inputs{Environ: []string{"STRAND_LAUNCH_FLAGS=btl"}})
	require.ErrorContains(t, err, `STRAND_LAUNCH_FLAGS = "btl" (from the environment): not what strand run writes, unset it`)
}

// What a user writes on a command line is any bytes but zeros, and arrives as it was written.
func TestFlagsOfTheLauncherArriveAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var flags []Setting
		for range rapid.IntRange(0, 4).Draw(t, "flags") {
			text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
			flags = append(flags, flag("job_name", text))
		}
		entry := FlagsEnv(flags)
		require.NotContains(t, entry, "\x00")
		got, err := launcherFlags([]string{entry})
		require.NoError(t, err)
		require.Equal(t, flags, got)
	})
}

// Names of variables and files are somebody's text too: an error has it on one line, without what upsets a
// terminal, and not all of a long one.
func TestPlacesAreQuoted(t *testing.T) {
	file := writeFile(t, "a\x1b[2J.conf", "btl\n")
	for _, in := range []Inputs{
		{Environ: []string{"STRAND_\x1b[2J=1"}},
		{Environ: []string{"STRAND_" + strings.Repeat("X", 100_000) + "=1"}},
		{Files: []string{file}},
		{Environ: []string{"STRAND_BTL=\x1b[2J", "STRAND_btl=2"}},
	} {
		_, err := testRegistry().Resolve(in)
		require.NotContains(t, err.Error(), "\x1b")
		require.Less(t, len(err.Error()), 1000)
	}
	require.Equal(t, "strand.conf:3", Source{File, "strand.conf:3"}.String())
	require.Equal(t, "the environment, STRAND_BTL", Source{Environment, "STRAND_BTL"}.String())
}

// Names that may be declared elsewhere are passed over wherever they come from. No other names
// are.
func TestForeignNames(t *testing.T) {
	in := Inputs{
		Settings: []Setting{flag("btl_ucp_sndbuf", "64K"), flag("btl_tcp_links", "2")},
		Environ:  []string{"STRAND_BTL_UCP_LANES=3", "STRAND_BTL_TCP_LINKZ=3"},
		Files:    []string{writeFile(t, "strand.conf", "btl_ucp_mtu = 9000\npml_checksums = yes\n")},
		Foreign:  func(name string) bool { return strings.HasPrefix(name, "btl_ucp_") },
	}
	_, err := testRegistry().Resolve(in)
	texts := mistakes(t, err)
	require.Len(t, texts, 2)
	require.Contains(t, texts[0], "pml_checksums")
	require.Contains(t, texts[1], "btl_tcp_linkz")

	in.Environ, in.Files = in.Environ[:1], nil
	values, err := testRegistry().Resolve(in)
	require.NoError(t, err)
	require.Equal(t, 2, values.Int("btl_tcp_links"))
}
