package compare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPace(t *testing.T) {
	all := turns(2, 2, 2)
	var p pace
	p.expect(all)
	_, count, left := p.state()
	assert.Equal(t, 8, count)
	assert.Negative(t, left, "nothing is known yet")

	p.took(all[0], 2*time.Second)
	done, count, left := p.state()
	assert.Equal(t, []int{1, 8}, []int{done, count})
	assert.Equal(t, 14*time.Second, left)

	p.took(all[1], 4*time.Second)
	p.took(all[2], 2*time.Second)
	p.skip(all[3], 1)
	done, count, left = p.state()
	assert.Equal(t, []int{3, 7}, []int{done, count})
	assert.Equal(t, 4*(8*time.Second/3), left, "the second cell is like the first")

	p.took(all[4], 10*time.Second)
	_, _, left = p.state()
	assert.Equal(t, 30*time.Second, left, "by now it is known to be slower")
}

// A variant that fails after a minute says nothing of one that takes a second.
func TestPaceOfVariants(t *testing.T) {
	all := turns(1, 2, 6) // A B, B A, A B, and so on
	var p pace
	p.expect(all)
	p.took(all[0], time.Minute)
	p.took(all[1], time.Second)
	_, _, left := p.state()
	assert.Equal(t, 5*time.Minute+5*time.Second, left)
	p.took(all[2], time.Second)
	p.took(all[3], time.Minute)
	p.skip(all[3], 4) // it is not tried again
	done, count, left := p.state()
	assert.Equal(t, []int{4, 8}, []int{done, count})
	assert.Equal(t, 4*time.Second, left)
}
