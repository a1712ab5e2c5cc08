package strand

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A tag of one kind of messages is none of another's, whatever the number of a call.
func TestTagsOfCallsDoNotMeet(t *testing.T) {
	kinds := map[int]string{tagGroup: "group", tagPlaces: "places", tagCommons: "commons", tagAwake: "awake"}
	for _, number := range []int64{0, 1, callTags - 1, callTags, math.MaxInt32, math.MaxInt64, math.MinInt64, -1, math.MinInt32} {
		tag := tagOf(number)
		assert.GreaterOrEqual(t, tag, 0, number)
		assert.Less(t, tag, callTags, number)
		for _, used := range []int{tag, tagAnswer + tag} {
			assert.NotContains(t, kinds, used, number)
		}
		assert.Less(t, tag, tagAnswer)
		assert.Less(t, tagAnswer+tag, tagPlaces)
	}
}
