package param

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeclareRefusesMistakes(t *testing.T) {
	for name, test := range map[string]struct {
		spec Spec
		want string
	}{
		"no name":         {Spec{Kind: Int, Default: "1", Help: "h"}, `param: declaring "": a name is made of lower-case letters, digits and _, and starts with a letter`},
		"capitals":        {Spec{Name: "Btl", Kind: String, Help: "h"}, `param: declaring "Btl": a name is made of lower-case letters, digits and _, and starts with a letter`},
		"a digit first":   {Spec{Name: "1x", Kind: String, Help: "h"}, `param: declaring "1x": a name is made of lower-case letters, digits and _, and starts with a letter`},
		"launcher's":      {Spec{Name: "launch_id", Kind: String, Help: "h"}, `param: declaring "launch_id": variables that start with STRAND_LAUNCH_ are the launcher's`},
		"no help":         {Spec{Name: "x", Kind: String}, `param: declaring "x": no help`},
		"no kind":         {Spec{Name: "x", Default: "1", Help: "h"}, `param: declaring "x": no such kind: kind(0)`},
		"no such level":   {Spec{Name: "x", Kind: String, Level: 9, Help: "h"}, `param: declaring "x": no such level: level(9)`},
		"bad default":     {Spec{Name: "x", Kind: Int, Default: "", Help: "h"}, `param: declaring "x": default "": not a whole number: write decimal digits, as in 12`},
		"default outside": {Spec{Name: "x", Kind: Int, Default: "9", Max: "8", Help: "h"}, `param: declaring "x": default "9": above the maximum 8`},
		"bad minimum":     {Spec{Name: "x", Kind: Size, Default: "9", Min: "-1", Help: "h"}, `param: declaring "x": default "9": minimum "-1": ` + errSizeSyntax.Error()},
		"bad maximum":     {Spec{Name: "x", Kind: Size, Default: "9", Max: "1X", Help: "h"}, `param: declaring "x": default "9": maximum "1X": ` + errSizeSyntax.Error()},
		"bounded string":  {Spec{Name: "x", Kind: String, Max: "z", Help: "h"}, `param: declaring "x": a string has no bounds`},
		"enum of nothing": {Spec{Name: "x", Kind: Enum, Default: "a", Help: "h"}, `param: declaring "x": choices belong to an enum, and an enum needs them`},
		"list of choices": {Spec{Name: "x", Kind: List, Choices: []string{"a"}, Help: "h"}, `param: declaring "x": choices belong to an enum, and an enum needs them`},
		"no choice":       {Spec{Name: "x", Kind: Enum, Default: "c", Choices: []string{"a", "b"}, Help: "h"}, `param: declaring "x": default "c": none of the choices: a, b`},
		"taken":           {Spec{Name: "btl", Kind: String, Help: "h"}, `param: declaring "btl": declared twice`},
	} {
		t.Run(name, func(t *testing.T) {
			r := testRegistry()
			require.PanicsWithValue(t, test.want, func() { r.Declare(test.spec) })
		})
	}
}

func TestSpecsAreSortedCopies(t *testing.T) {
	r := testRegistry()
	specs := r.Specs()
	require.Len(t, specs, 10)
	for i := 1; i < len(specs); i++ {
		require.Less(t, specs[i-1].Name, specs[i].Name)
	}
	specs[9].Choices[0] = "changed"
	require.Equal(t, []string{"weighted", "simple"}, r.Specs()[9].Choices)
}

func TestAllowed(t *testing.T) {
	for want, spec := range map[string]Spec{
		"":               {Kind: Int},
		"at least 1":     {Kind: Int, Min: "1"},
		"at most 64K":    {Kind: Size, Max: "64K"},
		"1ms to 1h":      {Kind: Duration, Min: "1ms", Max: "1h"},
		"tcp, self, udp": {Kind: Enum, Choices: []string{"tcp", "self", "udp"}},
	} {
		require.Equal(t, want, spec.Allowed())
	}
}

func TestNamesOfConstants(t *testing.T) {
	require.Equal(t, "[int size duration bool string enum list kind(8)]",
		fmt.Sprint([]fmt.Stringer{Int, Size, Duration, Bool, String, Enum, List, List + 1}))
	require.Equal(t, "[user tuner developer level(3)]",
		fmt.Sprint([]fmt.Stringer{User, Tuner, Developer, Developer + 1}))
	require.Equal(t, "[default file environment option flag source(5)]",
		fmt.Sprint([]fmt.Stringer{Default, File, Environment, Option, Flag, Flag + 1}))
}
