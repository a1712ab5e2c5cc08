package lines_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lines"
)

func TestBeginning(t *testing.T) {
	b := lines.NewBeginning(9)
	for i, c := range []struct {
		said, kept string
		full       bool
	}{{" one ", "one", false}, {"\xfftwo", "one \ufffdtwo", true}, {"three", "one \ufffdtwo", true}} {
		n, err := b.Write([]byte(c.said))
		assert.NoError(t, err)
		assert.Equal(t, len(c.said), n, i)
		assert.Equal(t, c.kept, b.String(), i)
		assert.Equal(t, c.full, b.Full(), i)
	}
	assert.Equal(t, " one \xfftwo", string(b.Bytes()))
}
