package pml

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
	"github.com/strandmp/strand/selection"
)

// typical is a module of which only the attributes are known.
type typical struct{ btl.Module }

func (typical) Attr() btl.Attr {
	return btl.Attr{Name: "net", Bandwidth: 10_000, Latency: 30 * time.Microsecond}
}

// knowing is an endpoint that knows its path.
type knowing struct {
	scripted
	path btl.Path
}

func (k *knowing) Path() btl.Path { return k.path }

// A connection may be made over a path that only the peer knew. Its rail has the figures that
// its endpoint tells, or else those that are typical of its module.
func TestForeignRailHasTheFiguresOfItsPath(t *testing.T) {
	pe, _ := connected(t)
	m := typical{}
	pe.choice = selection.Choice{}
	pe.choice.Join(selection.Offer{Module: m, Paths: []btl.Path{{Bandwidth: 1000, Desc: "ours"}}}, "chosen")
	slow := pe.addForeign(&accepted{m, 7, &knowing{path: btl.Path{Bandwidth: 100, Latency: time.Millisecond, Desc: "theirs"}}})
	assert.Equal(t, btl.Path{Index: 7, Bandwidth: 100, Latency: time.Millisecond, Desc: "theirs"}, slow.path)
	require.Len(t, pe.rails, 2)
	assert.Same(t, slow, pe.rails[1], "control goes over the one of less latency")
	assert.InDelta(t, 100.0/1100, slow.weight, 1e-9)
	assert.InDelta(t, 1000.0/1100, pe.rails[0].weight, 1e-9)

	plain := pe.addForeign(&accepted{m, 8, &scripted{}})
	assert.Equal(t, 8, plain.path.Index)
	assert.InDelta(t, 10_000.0/11_100, plain.weight, 1e-9)
	assert.Equal(t, []*rail{plain, pe.rails[1], slow}, pe.rails)
	assert.Same(t, plain, pe.railFor(m, 8))
}

// twoWays is a module with paths to everybody, of which those from one on can not be
// connected.
type twoWays struct {
	btl.Module
	fails int // the place of the first that can not
	made  []*closable
}

type closable struct {
	scripted
	closed int
}

func (c *closable) Close() error {
	c.closed++
	return nil
}

func (m *twoWays) Attr() btl.Attr  { return typical{}.Attr() }
func (m *twoWays) Address() []byte { return nil }
func (m *twoWays) Reach(btl.Peer) ([]btl.Path, error) {
	return []btl.Path{{Index: 0, Desc: "first"}, {Index: 1, Desc: "second"}, {Index: 2, Desc: "third"}}, nil
}

func (m *twoWays) Connect(_ btl.Peer, path btl.Path, _ btl.Receiver) (btl.Endpoint, error) {
	if path.Index >= m.fails {
		return nil, errors.New("no descriptor is left")
	}
	ep := new(closable)
	m.made = append(m.made, ep)
	return ep, nil
}

// A path for which the module can make no endpoint ends no first contact where others would do. It fails as one does that can
// not be connected.
func TestPathWithoutAnEndpoint(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		pe, _ := connected(t)
		p, m := pe.pml, &twoWays{fails: 2}
		p.host = &host{pml: p}
		p.modules = []openModule{{component: "net", module: m}}
		pe.rails, pe.ways.Stage = nil, rails.Resolving
		var first *accepted
		accepting := new(closable)
		if theirs {
			first = &accepted{m, 0, accepting}
		}
		require.NoError(t, p.attachRails(pe, &wire.Hello{Host: "there", Modules: []wire.Module{{Component: "net", Address: nil}}}, first))
		require.NotEmpty(t, m.made)
		for _, ep := range append(m.made, accepting) {
			assert.Zero(t, ep.closed)
		}
		require.Len(t, pe.rails, 3)
		assert.Equal(t, rails.Down, pe.rails[2].way.State)
		require.ErrorContains(t, pe.rails[2].way.Cause, "net third: no descriptor is left")
		m.fails = 3
		pe.rails[2].connect(true)
		assert.Same(t, m.made[len(m.made)-1], pe.rails[2].endpoint, "it is tried again")
	}
}

// Where no path has an endpoint the error names all of them.
func TestNoPathHasAnEndpoint(t *testing.T) {
	callable(t, func(pe *peer, _ *Context, _ *[]int) {
		p, m := pe.pml, new(twoWays)
		p.host = &host{pml: p}
		p.modules = []openModule{{component: "net", module: m}}
		p.appeal = nil
		pe.rails, pe.ways = nil, rails.Peer{Stage: rails.Resolving}
		p.meetAt(pe, &wire.Hello{Host: "there", Modules: []wire.Module{{Component: "net", Address: nil}}})
		for _, path := range []string{"first", "second", "third"} {
			assert.ErrorContains(t, pe.failure, "net "+path+": no descriptor is left")
		}
	})
}

// A peer may make the connection for urgent messages first, and its endpoint may leave the number of its path to the host,
// as any other may.
func TestFirstConnectionIsUrgent(t *testing.T) {
	pe, _ := connected(t)
	p, m := pe.pml, &twoWays{fails: 3}
	p.host, p.job = &host{pml: p}, sized{size: 2}
	p.modules = []openModule{{component: "net", module: m}}
	pe.rails, pe.ways.Stage = nil, rails.Resolving
	hello, err := (&wire.Hello{Host: "there", Modules: []wire.Module{{Component: "net"}}}).Encode()
	require.NoError(t, err)
	ep := &knowing{path: btl.Path{Urgent: true}}
	recv, err := p.host.Accept(m, 1, hello, 7, ep)
	require.NoError(t, err)
	assert.Same(t, ep, recv.(*rail).endpoint)
	assert.Same(t, pe.express.rail, recv)
}
