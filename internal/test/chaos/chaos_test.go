package chaos_test

import (
	"fmt"
	"testing"

	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/chaos"
	"github.com/strandmp/strand/internal/test/need"
)

// Chaos that broke the contract would find faults that are its own. From day to day the random one says enough.
func TestConformance(t *testing.T) {
	var configs []chaos.Config
	if need.Thorough() {
		configs = append(configs, chaos.Calm())
	}
	for seed := range need.Times(1, 100) {
		c := chaos.Random(uint64(seed))
		c.Self, c.Cut, c.Delay = true, 0, min(c.Delay, 4) // the suite waits for each of many frames
		configs = append(configs, c)
	}
	for i, c := range configs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Log(c)
			conformance.Run(t, func() conformance.Subject {
				return conformance.Subject{Component: chaos.New(c), Sever: chaos.Sever}
			})
		})
	}
}
