package param

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// alikes are two parameters that all ranks have alike, and one that they need not.
func alikes(t *testing.T, settings ...Setting) *Values {
	r := NewRegistry()
	r.Declare(Spec{Name: "check", Kind: Bool, Default: "false", Alike: true, Help: "h"}, Spec{Name: "from", Kind: Int, Default: "128", Alike: true, Help: "h"},
		Spec{Name: "way", Kind: String, Alike: true, Help: "h"}, Spec{Name: "own", Kind: Int, Default: "1", Help: "h"})
	v, err := r.Resolve(Inputs{Settings: settings})
	require.NoError(t, err)
	return v
}

func TestRanksThatHaveTheSame(t *testing.T) {
	require.Empty(t, alikes(t, Setting{Name: "own", Text: "7"}, Setting{Name: "check", Text: "off"}).Alike(), "what is as by default is not told")
	one := alikes(t, Setting{Name: "check", Text: "on"}, Setting{Name: "way", Text: "a=\"b\"\nc"})
	two := alikes(t, Setting{Name: "check", Text: "1"}, Setting{Name: "way", Text: "a=\"b\"\nc"}, Setting{Name: "own", Text: "7"})
	require.NoError(t, two.CheckAlike(0, one.Alike()))
	require.NoError(t, alikes(t, Setting{Name: "from", Text: "128"}).CheckAlike(0, alikes(t).Alike()))
	require.NoError(t, alikes(t).CheckAlike(0, "elsewhere=\"5\"\n"), "a parameter that nobody has declared here")
}

// All that differ are named, with both values.
func TestRanksThatDiffer(t *testing.T) {
	set := alikes(t, Setting{Name: "from", Text: "200", Source: Source{Kind: Environment, Where: "X_FROM"}}, Setting{Name: "check", Text: "on"})
	require.EqualError(t, set.CheckAlike(3, alikes(t).Alike()), `check=on from a program option, but false on rank 3; from=200 from the environment, X_FROM, but 128 on rank 3: `+
		`give all ranks the same value: they would wait for each other without an end`)
	require.ErrorContains(t, alikes(t).CheckAlike(3, set.Alike()), ", but on on rank 3; from=128 from ")
	require.ErrorContains(t, alikes(t).CheckAlike(3, "from=\"many\"\n"), "from=128 from the default, but many on rank 3")
}

func TestTextOfAnotherRankThatIsNone(t *testing.T) {
	for _, text := range []string{"from", "from=7", "from=\"7", "\n", "=\"\"\"\n"} {
		require.EqualError(t, alikes(t).CheckAlike(0, text), "parameters of rank 0: malformed text", "%q", text)
	}
}
