package selection

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

var fromFlag = param.Source{Kind: param.Flag, Where: "--btl"}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text    string
		exclude bool
		names   []string
	}{
		{"", false, nil},
		{"  ", false, nil},
		{"tcp", false, []string{"tcp"}},
		{"tcp,self", false, []string{"self", "tcp"}},
		{" tcp , self ", false, []string{"self", "tcp"}},
		{"tcp,self,tcp", false, []string{"self", "tcp"}},
		{"^udp", true, []string{"udp"}},
		{"^udp,sctp", true, []string{"sctp", "udp"}},
		{" ^ udp", true, []string{"udp"}},
	} {
		l, err := Parse(tc.text, fromFlag)
		require.NoError(t, err, tc.text)
		assert.Equal(t, tc.exclude, l.Exclude, tc.text)
		assert.Equal(t, tc.names, l.Names, tc.text)
	}
}

func TestParseMistakes(t *testing.T) {
	for _, tc := range []struct {
		text string
		says []string
	}{
		{"^", []string{`btl = "^" (from --btl)`, "excludes nothing"}},
		{"^ ", []string{"excludes nothing"}},
		{"tcp,^self", []string{`btl = "tcp,^self"`, "either includes or excludes", "leave ^self out"}},
		{"^tcp,^self", []string{"stands only once", "^a,b"}},
		{"^^tcp", []string{"stands only once"}},
		{"tcp,,self", []string{"a name is missing"}},
		{"tcp,", []string{"a name is missing"}},
		{",", []string{"a name is missing"}},
		{"^,tcp", []string{"a name is missing"}},
	} {
		_, err := Parse(tc.text, fromFlag)
		require.Error(t, err, tc.text)
		for _, want := range tc.says {
			assert.ErrorContains(t, err, want)
		}
	}
}

func TestAllows(t *testing.T) {
	for _, tc := range []struct {
		text     string
		yes, not []string
	}{
		{"", []string{"tcp", "self", "udp"}, nil},
		{"tcp,self", []string{"tcp", "self"}, []string{"udp", "tc", "tcpx"}},
		{"^udp,sctp", []string{"tcp", "self"}, []string{"udp", "sctp"}},
	} {
		l, err := Parse(tc.text, fromFlag)
		require.NoError(t, err)
		for _, name := range tc.yes {
			assert.True(t, l.Allows(name), "%q and %s", tc.text, name)
		}
		for _, name := range tc.not {
			assert.False(t, l.Allows(name), "%q and %s", tc.text, name)
		}
	}
}

func TestComponents(t *testing.T) {
	r := registry("self", "sctp", "tcp", "udp")
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", []string{"sctp", "self", "tcp", "udp"}},
		{"tcp,self", []string{"self", "tcp"}},
		{"^udp", []string{"sctp", "self", "tcp"}},
		{"^udp,sctp,udp", []string{"self", "tcp"}},
	} {
		l, err := Parse(tc.text, fromFlag)
		require.NoError(t, err)
		got, err := l.Components(r)
		require.NoError(t, err)
		assert.Equal(t, tc.want, names(got), tc.text)
	}
}

// shy is a transport that wants to be asked for.
type shy struct{ btl.Component }

func (shy) Requested() {}

// Who wants to be asked for is used if a list names it, or if the list is empty and allows all. A list of
// what not to use does not ask for the others.
func TestRequestedComponents(t *testing.T) {
	r := registry("self", "tcp")
	for _, c := range registry("sctp", "udp").Components() {
		r.Register(shy{c})
	}
	for text, want := range map[string][]string{
		"":         {"sctp", "self", "tcp", "udp"},
		"sctp":     {"sctp"},
		"sctp,tcp": {"sctp", "tcp"},
		"^tcp":     {"self"},
		"^udp":     {"self", "tcp"},
		"^tcp,udp": {"self"},
	} {
		l, err := Parse(text, fromFlag)
		require.NoError(t, err)
		got, err := l.Components(r)
		require.NoError(t, err, text)
		assert.Equal(t, want, names(got), text)
	}
	l, err := Parse("^self,tcp", fromFlag)
	require.NoError(t, err)
	_, err = l.Components(r)
	require.ErrorContains(t, err, "leaves only what has to be asked for by name (sctp, udp)")
	require.NoError(t, l.Check(r), "pml_failover may say so: these stand by then")
}

func TestComponentsMistakes(t *testing.T) {
	for _, tc := range []struct {
		text  string
		names []string
		says  []string
	}{
		{"tpc,self", []string{"self", "tcp"}, []string{`btl = "tpc,self" (from --btl)`, `no transport "tpc"`, "did you mean tcp?", "Available: self, tcp"}},
		{"^tpc", []string{"self", "tcp"}, []string{"did you mean tcp?"}},
		{"infiniband", []string{"self", "tcp"}, []string{`no transport "infiniband". Available: self, tcp`}},
		{"nosuch,neither", []string{"self"}, []string{`"nosuch"`, `"neither"`}},
		{"tcp", nil, []string{"Available: none"}},
		{"^self,tcp", []string{"self", "tcp"}, []string{"excludes every transport there is (self, tcp)"}},
		{"", nil, []string{"contains no transport"}},
	} {
		l, err := Parse(tc.text, fromFlag)
		require.NoError(t, err, tc.text)
		_, err = l.Components(registry(tc.names...))
		require.Error(t, err, tc.text)
		for _, want := range tc.says {
			assert.ErrorContains(t, err, want)
		}
	}
}

// What a list prints is a list that allows the same.
func TestParseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z][a-z0-9]{0,4}`)
		given := rapid.SliceOfN(word, 0, 6).Draw(t, "names")
		text := strings.Join(given, ",")
		exclude := len(given) > 0 && rapid.Bool().Draw(t, "exclude")
		if exclude {
			text = "^" + text
		}
		l, err := Parse(text, fromFlag)
		require.NoError(t, err)
		again, err := Parse(l.String(), fromFlag)
		require.NoError(t, err)
		for _, name := range append(given, word.Draw(t, "other")) {
			want := len(given) == 0 || slices.Contains(given, name) != exclude
			assert.Equal(t, want, l.Allows(name), name)
			assert.Equal(t, want, again.Allows(name), name)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "tcp,self", "^udp", "^", "tcp,^self", ",", "^^", " a , b ", "\xff,\x00"} {
		f.Add(seed)
	}
	r := registry("self", "tcp", "udp")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text, fromFlag)
		if err != nil {
			assert.Less(t, len(err.Error()), 1000)
			return
		}
		assert.True(t, slices.IsSorted(l.Names))
		again, err := Parse(l.String(), fromFlag)
		require.NoError(t, err)
		assert.Equal(t, l.Names, again.Names)
		assert.Equal(t, l.Exclude, again.Exclude)
		chosen, err := l.Components(r)
		assert.NotEqual(t, err == nil, len(chosen) == 0)
	})
}

func registry(names ...string) *btl.Registry {
	r := new(btl.Registry)
	for _, name := range names {
		r.Register(component(name))
	}
	return r
}

func names(cs []btl.Component) []string {
	var all []string
	for _, c := range cs {
		all = append(all, c.Name())
	}
	return all
}

// component is one that has nothing but a name.
type component string

func (c component) Name() string                      { return string(c) }
func (component) Declare(*param.Registry)             {}
func (component) Open(btl.Host) ([]btl.Module, error) { return nil, nil }
