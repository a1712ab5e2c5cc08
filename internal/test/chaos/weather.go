package chaos

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// Weather is how the network of a transport fares.
type Weather int32

const (
	// Fair: it works.
	Fair Weather = iota
	// Down: all connections are cut, and none can be made, for a reason that passes
	// (see Config.Patient).
	Down
	// Gone is Down, but who tries to connect is told that nobody is there.
	Gone
	// Silent: nothing moves, and nobody who wants to connect is answered.
	Silent
)

var errDown = fmt.Errorf("the network is down: %w", syscall.ENETDOWN)

// SetWeather changes how the network fares. Nothing that it held back is lost when it is
// fair again.
func (c *Component) SetWeather(w Weather) {
	c.weather.Store(int32(w))
	for _, m := range c.modules.Modules() {
		m.post(func() { m.feel(w) })
	}
}

func (c *Component) current() Weather  { return Weather(c.weather.Load()) }
func (c *Component) is(w Weather) bool { return c.current() == w }

// feel has the connections of a module take note of the weather.
func (m *module) feel(w Weather) {
	for _, e := range slices.Collect(maps.Keys(m.endpoints)) {
		switch {
		case e.state == idle, w == Down && e.state == connecting && m.config.Patient:
		case w == Down:
			e.fail("receiving", errDown)
		case w == Gone:
			e.fail("receiving", errCut)
		case w == Fair && e.state == connecting:
			if e.unasked {
				e.ask()
			}
		case w == Fair:
			m.stir(e)
		}
	}
}
