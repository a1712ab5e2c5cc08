package conformance_test

import (
	"testing"

	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/mem"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// kinds are the sorts of transports that a correct one may be.
var kinds = map[string]mem.Config{
	"remote":  {MaxFrame: 1 << 20, Lanes: 4, Window: 64, Chunk: 16 << 10},
	"narrow":  {MaxFrame: 1024, Lanes: 1, Window: 1, Chunk: 100},
	"local":   {MaxFrame: 256 << 10, Lanes: 1, Window: 16, Chunk: 1 << 20, Local: true},
	"self":    {MaxFrame: 1 << 20, Lanes: 1, Window: 8, Chunk: 8 << 10, Self: true, Local: true},
	"moving":  {MaxFrame: 1 << 20, Lanes: 2, Window: 8, Chunk: 100 << 10, Moves: true},
	"keeping": {MaxFrame: 64 << 10, Lanes: 2, Window: 32, Chunk: 16 << 10, Keeps: 20},
	"lossy":   {MaxFrame: 4096, Lanes: 1, Window: 32, Chunk: 1 << 20, Lossy: 50},
}

func subject(c mem.Config) conformance.Subject {
	component := mem.New(c)
	return conformance.Subject{Component: component, Sever: mem.Sever, Wire: component.Wire, Inject: mem.Inject}
}

// TestReference: a correct transport passes, whatever it is like.
func TestReference(t *testing.T) {
	for name, config := range kinds {
		t.Run(name, func(t *testing.T) {
			if name != "remote" && name != "lossy" {
				need.CI(t, "the suite itself is much the same for all of them")
			}
			conformance.Run(t, func() conformance.Subject { return subject(config) })
		})
	}
}

func setting(name, text string) param.Setting { return param.Setting{Name: name, Text: text} }
