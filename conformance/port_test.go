package conformance

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// That the peer gave up an endpoint because its time was over may mean nothing but that the machine is slow.
func TestWhoWasGivenUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		waited time.Duration // the peer, without a connection
		rule   string
	}{
		{"in time", time.Minute, ruleStaysUp.Name},
		{"when the time was over", 3 * time.Hour, ruleInTime.Name},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{t: newTrial(nil, options{}, ""), limit: limit{"btl_x_timeout", 2 * time.Hour}}
			maker, accepter := w.newPortLocked(&rank{id: 7}, 0), w.newPortLocked(&rank{id: 0}, 7)
			maker.began, accepter.up = time.Now().Add(-c.waited), true
			accepter.fell(errors.New("reset"))
			require.Len(t, w.t.violations, 1)
			require.Equal(t, c.rule, w.t.violations[0].Rule, "%v", w.t.violations)
			require.Equal(t, c.rule == ruleInTime.Name, strings.Contains(w.t.violations[0].Detail, "btl_x_timeout"), "%v", w.t.violations)
		})
	}
}
