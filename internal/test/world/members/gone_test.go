package members_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/leak"
)

// Who leaves without a goodbye, where no launcher tells of it, counts as gone when nothing has
// listened there for seconds. Those of all these tests pass together, and what is left behind
// is looked for at the end of all.
func TestGone(t *testing.T) {
	leak.Check(t)
	for name, test := range map[string]func(*testing.T){
		"close timeout":                    closeTimeout,
		"killed rank":                      killedRank,
		"rank killed during long messages": rankKilledDuringLongMessages,
		"run after a failure":              runAfterAFailure,
		"run with a Goexit":                runWithAGoexit,
		"run with an error":                runWithAnError,
		"run with an error is a failure":   runWithAnErrorIsAFailure,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}
