package members_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// eager is a transport that nobody need ask for.
type eager struct{ name string }

func (p eager) Name() string                      { return p.name }
func (eager) Declare(*param.Registry)             {}
func (eager) Open(btl.Host) ([]btl.Module, error) { return nil, nil }

// shy wants to be asked for.
type shy struct{ eager }

func (shy) Requested() {}

// What wants to be asked for is left out by default, by name.
func TestRequestedTransports(t *testing.T) {
	for want, components := range map[string][]btl.Component{
		"":             {eager{"alpha"}, eager{"beta"}},
		"^gamma":       {eager{"alpha"}, shy{eager{"gamma"}}},
		"^delta,gamma": {shy{eager{"gamma"}}, eager{"alpha"}, shy{eager{"delta"}}},
	} {
		var transports btl.Registry
		for _, c := range components {
			transports.Register(c)
		}
		var params param.Registry
		strand.Declare(&params, &transports)
		values, err := params.Resolve(param.Inputs{})
		assert.NoError(t, err)
		assert.Equal(t, want, values.String("btl"))
	}
}
