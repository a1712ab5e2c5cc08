package btl

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/param"
)

type named string

func (n named) Name() string              { return string(n) }
func (named) Declare(*param.Registry)     {}
func (named) Open(Host) ([]Module, error) { return nil, ErrClosed }

// Who names a transport that the program does not have learns which it has, which may be
// meant, and how to get another.
func TestFind(t *testing.T) {
	var r Registry
	_, err := r.Find("tcp")
	assert.ErrorContains(t, err, `there is no transport "tcp". Available: none.`)
	r.Register(named("tcp"))
	r.Register(named("self"))
	found, err := r.Find("tcp")
	require.NoError(t, err)
	assert.Equal(t, named("tcp"), found)
	_, err = r.Find("tpc")
	assert.EqualError(t, err, `there is no transport "tpc"; did you mean tcp? Available: self, tcp. Any other has to be compiled into the program, `+
		`by an import (docs/WRITING-A-BTL.md, "In programs, and in strand")`)
	page, err := os.ReadFile("../docs/WRITING-A-BTL.md")
	require.NoError(t, err)
	assert.Contains(t, string(page), "\n## "+compiledIn+"\n")
}
