package param

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadingWhatIsNotThere(t *testing.T) {
	v, err := testRegistry().Resolve(Inputs{})
	require.NoError(t, err)
	require.PanicsWithValue(t, `param: "nosuch" was not declared`, func() { v.Int("nosuch") })
	require.PanicsWithValue(t, `param: "nosuch" was not declared`, func() { v.Value("nosuch") })
	require.PanicsWithValue(t, `param: "pml_eager_limit" is declared as size and read as int`, func() { v.Int("pml_eager_limit") })
	require.PanicsWithValue(t, `param: "btl" is declared as list and read as string`, func() { _ = v.String("btl") })
}

func TestValuesNeverChange(t *testing.T) {
	r := testRegistry()
	v, err := r.Resolve(Inputs{})
	require.NoError(t, err)
	v.List("btl")[0] = "changed"
	v.Value("reach_policy").Spec.Choices[0] = "changed"
	r.Declare(Spec{Name: "late", Kind: String, Help: "h"})

	require.Equal(t, []string{"tcp", "self"}, v.List("btl"))
	require.Equal(t, []string{"weighted", "simple"}, v.Value("reach_policy").Spec.Choices)
	require.Len(t, v.All(), 10)
}

func TestAllIsSorted(t *testing.T) {
	r := testRegistry()
	v, err := r.Resolve(Inputs{})
	require.NoError(t, err)
	var specs []Spec
	for _, value := range v.All() {
		specs = append(specs, value.Spec)
		require.Equal(t, value.Spec.Default, value.Text)
	}
	require.Equal(t, r.Specs(), specs)
}
