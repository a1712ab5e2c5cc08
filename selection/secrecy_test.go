package selection

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// secretive is a component whose user wants secrecy by that setting.
type secretive struct {
	component
	setting string
}

func (s secretive) Secret(*param.Values) string { return s.setting }

// Once the user wants secrecy of one component, what sends in the clear is not used, whichever
// component it is of; without, everything is.
func TestSecrecy(t *testing.T) {
	assert.Empty(t, Secret([]btl.Component{component("a"), secretive{"b", ""}}, nil))
	setting := Secret([]btl.Component{component("a"), secretive{"b", ""}, secretive{"c", "c_hide=true"}}, nil)
	assert.Equal(t, "c_hide=true", setting)
	for secrecy, used := range map[btl.Secrecy]bool{btl.Clear: false, btl.Within: true, btl.Encrypted: true} {
		a := btl.Attr{Secrecy: secrecy}
		assert.NoError(t, Exposed("a", a, ""), secrecy)
		err := Exposed("a", a, setting)
		assert.Equal(t, used, err == nil, secrecy)
		if !used {
			assert.EqualError(t, err, "btl a is not available: it sends in the clear, and c_hide=true says that nobody else is to read or change messages "+
				"(leave it out of the parameter btl, or take that setting back on all ranks)")
		}
	}
}
