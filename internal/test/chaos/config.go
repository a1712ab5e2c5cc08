package chaos

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// A Config says what the transport promises and how it misbehaves within that.
type Config struct {
	// Name of the component, "chaos" if empty: several may serve one program.
	Name string
	// Seed of every choice.
	Seed uint64
	// EagerLimit, MaxFrame, BestFrame, Lanes, Ordered and Local are the
	// module's attributes (btl.Attr).
	EagerLimit, MaxFrame, BestFrame int
	Lanes                           int
	Ordered, Local                  bool
	Exclusivity                     int
	// Self says that a rank reaches itself too.
	Self bool
	// Both keeps two connections where both sides have connected at once.
	Both bool
	// Express has urgent frames get a connection of their own.
	Express bool
	// Window is how many frames may be under way on an endpoint. At least 1.
	Window int
	// Refuse has Send say Busy once in so many times; 0: only at the window.
	Refuse int
	// Delay is the most polls that a frame, a release or room to write waits.
	Delay int
	// SlowLane has frames of the first lane wait several times as long.
	SlowLane bool
	// Chunk is the payload, in bytes, above which a frame arrives in two steps,
	// in pieces of at most that size. At least 1.
	Chunk int
	// Patient has an attempt to connect that finds the network down wait for it, as
	// transports do that try several times. Otherwise it fails at once.
	Patient bool
	// Cut breaks a connection once in so many frames that arrive; 0: never. What is
	// under way is lost. It is not cut by a side that the other one has not heard of yet:
	// over connections that are all shorter than a round trip nothing can be delivered for certain.
	Cut int
}

// Calm is as well-behaved as the transport gets.
func Calm() Config {
	return Config{EagerLimit: 8 << 10, MaxFrame: 64 << 10, Lanes: 1, Ordered: true, Window: 64, Chunk: 16 << 10}
}

// Random draws a configuration.
func Random(seed uint64) Config {
	r := rand.New(rand.NewPCG(seed, 0xC4A05))
	c := Config{
		Seed:       seed,
		EagerLimit: pick(r, 1, 64, 256, 1000, 4<<10, 16<<10),
		MaxFrame:   pick(r, 1<<10, 1<<10, 3000, 8<<10, 64<<10, 1<<20),
		Lanes:      pick(r, 1, 2, 4, 10),
		Ordered:    r.IntN(4) == 0,
		Local:      r.IntN(8) == 0,
		Self:       r.IntN(2) == 0,
		Both:       r.IntN(4) == 0,
		Window:     pick(r, 1, 2, 64, 1000, 1000, 1000),
		Refuse:     pick(r, 0, 0, 0, 2, 20),
		Delay:      pick(r, 0, 4, 16, 40, 40),
		Chunk:      pick(r, 1, 100, 1000, 16<<10, 1<<20),
	}
	c.SlowLane = r.IntN(2) == 0
	if r.IntN(2) == 0 {
		c.BestFrame = c.MaxFrame/16 + r.IntN(c.MaxFrame)*15/16
	}
	if cut := pick(r, 0, 0, 0, 30, 100, 1000); !c.Local {
		c.Cut = cut
	}
	c.Express = r.IntN(2) == 0
	return c
}

func pick(r *rand.Rand, values ...int) int { return values[r.IntN(len(values))] }

func (c Config) name() string { return cmp.Or(c.Name, "chaos") }

func (c Config) String() string {
	return fmt.Sprintf("%s: eager %d, frames of %d (best %d), %d lanes, ordered %v, local %v, self %v, both %v, express %v, window %d, refuse 1 in %d, delay %d (slow lane %v), chunk %d, patient %v, cut 1 in %d, exclusivity %d, seed %#x",
		c.name(), c.EagerLimit, c.MaxFrame, c.BestFrame, c.Lanes, c.Ordered, c.Local, c.Self, c.Both, c.Express, c.Window, c.Refuse, c.Delay, c.SlowLane, c.Chunk, c.Patient, c.Cut, c.Exclusivity, c.Seed)
}
