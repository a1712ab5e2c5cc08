package rails

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		evidence Evidence
		want     Reason
	}{
		"nothing is wrong": {Evidence{Met: true, Connected: true}, NoReason},
		"the launcher says so, and its last words may come yet":  {Evidence{Met: true, Connected: true, Doomed: true}, NoReason},
		"the launcher says so, and they have had their time":     {Evidence{Met: true, Connected: true, Doomed: true, HeardOut: true}, LaunchersWord},
		"the launcher says so, and its connection is ending":     {Evidence{Met: true, Ending: true, Doomed: true}, NoReason},
		"the launcher says so":                                   {Evidence{Doomed: true}, LaunchersWord},
		"it makes no sense":                                      {Evidence{Met: true, Connected: true, Damaged: true}, Damage},
		"it refuses, with proof":                                 {Evidence{Met: true, Refused: true}, Refusal},
		"it refuses what another connection stands for":          {Evidence{Met: true, Connected: true, Refused: true}, NoReason},
		"no way leads there":                                     {Evidence{Exhausted: true}, Unreachable},
		"it came by itself meanwhile":                            {Evidence{Met: true, Connected: true, Exhausted: true}, NoReason},
		"it has been away for a moment":                          {Evidence{Met: true, Absent: Absence - 1}, NoReason},
		"it has been away for some time":                         {Evidence{Met: true, Absent: Absence}, Departure},
		"it has been away, and the launcher says nothing of it":  {Evidence{Met: true, Absent: time.Hour, Told: true}, NoReason},
		"it has been away, and nobody else would find out":       {Evidence{Met: true, Absent: Absence, Told: true, Leaving: true}, Departure},
		"it is silent":                                           {Evidence{Met: true, Connected: true, Silent: Missable}, Silence},
		"it is silent, and the launcher says nothing of it":      {Evidence{Met: true, Told: true, Absent: time.Hour, Silent: Missable}, Silence},
		"it is silent, and is waited for":                        {Evidence{Met: true, Silent: 100 * Missable, Patient: true}, NoReason},
		"it was never there":                                     {Evidence{Silent: Missable}, NoReason},
		"nothing gets through a connection that holds":           {Evidence{Met: true, Connected: true, Stuck: Missable, Breaks: 1}, NoReason},
		"nothing gets through any of them":                       {Evidence{Met: true, Connected: true, Stuck: Missable, Breaks: manyBreaks}, Standstill},
		"nothing gets through any of them, and it is waited for": {Evidence{Met: true, Stuck: Missable, Breaks: manyBreaks, Patient: true}, NoReason},
		"many have broken, and more than the last got through":   {Evidence{Met: true, Connected: true, Stuck: Missable - 1, Breaks: 1000}, NoReason},
	} {
		assert.Equal(t, c.want, c.evidence.Verdict(), name)
	}
}
