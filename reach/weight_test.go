package reach

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFormatWeight(t *testing.T) {
	for w, want := range map[float64]string{
		0: "0", 100: "100", 50.5: "50.5", 1.0 / 3: "0.333333", 123456.7: "123457", 1000100: "1000100", 4e6: "4000000", 2.5e-5: "0.000025",
	} {
		assert.Equal(t, want, FormatWeight(w))
	}
}
