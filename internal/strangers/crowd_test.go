package strangers

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

// at is a port of the i-th host.
func at(i, port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), uint16(port))
}

func newCrowd(most int) *Crowd[string] {
	return New[string](Rules{Most: most, Chance: rand.New(rand.NewPCG(1, 2)).IntN})
}

// fill takes all places for strangers from somewhere.
func fill(c *Crowd[string], now int64, from func(i int) netip.AddrPort) (all []*Place[string]) {
	for i := range c.Most() {
		p, loser := c.Enter(now, from(i), "flood")
		if loser != nil {
			panic("there is room")
		}
		all = append(all, p)
	}
	return all
}

func requireLeft(t *testing.T, p *Place[string], why string) {
	t.Helper()
	require.NotNil(t, p)
	require.True(t, p.left, why)
}

// Whatever a flood holds, and however new it is, it pays for a stranger from another host, or from
// another port of its own host.
func TestSharesAreFair(t *testing.T) {
	for name, member := range map[string]netip.AddrPort{"another host": at(2, 0), "another port": at(1, 9)} {
		t.Run(name, func(t *testing.T) {
			for claims := range 3 {
				c := newCrowd(16)
				for i, p := range fill(c, 0, func(int) netip.AddrPort { return at(1, 5) }) {
					if i%2 < claims {
						p.Claims()
					}
				}
				us, loser := c.Enter(1, member, "us")
				requireLeft(t, loser, "the flood pays")
				require.Equal(t, at(1, 5), loser.from)
				for i := range 100 {
					_, loser := c.Enter(2+int64(i), at(1, 5), "flood")
					require.Equal(t, "flood", loser.Who, "and goes on to")
				}
				require.False(t, us.left)
				require.Equal(t, 16, c.Count())
			}
		})
	}
}

// Two floods share the places; a third one has a third of them.
func TestFloodsShare(t *testing.T) {
	c := newCrowd(30)
	for i := range 1000 {
		c.Enter(int64(i), at(1+i%2, 0), "flood")
	}
	require.Equal(t, 15, c.hosts[at(1, 0).Addr()].count)
	for i := range 100 {
		c.Enter(1000+int64(i), at(3, 0), "flood")
	}
	for host := range 3 {
		require.Equal(t, 10, c.hosts[at(1+host, 0).Addr()].count)
	}
}

// Among equals those go first that had their time: the silent after 100 ms, then the
// claiming after 500 ms.
func TestWhoGoesAmongEquals(t *testing.T) {
	c := newCrowd(3)
	from := at(1, 0)
	claims, _ := c.Enter(0, from, "claims")
	claims.Claims()
	old, _ := c.Enter(400*ms, from, "old")
	young, _ := c.Enter(450*ms, from, "young")

	_, loser := c.Enter(500*ms, from, "a")
	require.Same(t, old, loser)
	_, loser = c.Enter(501*ms, from, "b")
	require.Same(t, claims, loser)
	young.Claims()
	young.Claims()
	for range 20 {
		_, loser = c.Enter(502*ms, from, "c")
		require.NotSame(t, young, loser, "who claims is not pushed out by those who are silent")
	}
}

// A member that claims stays in a flood of the silent, as does one that is silent for a moment in a
// flood of claims. In a flood of its own kind a member stays for its handshake as often as chance
// has it.
func TestChanceOfAMember(t *testing.T) {
	const most, newcomers, trials = 64, 32, 1000
	stays := func(floodClaims, memberClaims bool) float64 {
		stayed := 0
		c := newCrowd(most)
		for range trials {
			for _, p := range c.All() {
				p.Leave()
			}
			enter := func(i int, claims bool) *Place[string] {
				p, _ := c.Enter(int64(i), at(1, 0), "")
				if claims {
					p.Claims()
				}
				return p
			}
			for i := range most {
				enter(i, floodClaims)
			}
			member := enter(most, memberClaims)
			for i := range newcomers {
				enter(most+i, floodClaims)
			}
			if !member.left {
				stayed++
			}
		}
		return float64(stayed) / trials
	}
	require.Equal(t, 1.0, stays(false, true))
	require.Equal(t, 1.0, stays(true, false))
	among := math.Exp(-float64(newcomers) / most)
	require.InDelta(t, among, stays(false, false), 0.07)
	require.InDelta(t, among, stays(true, true), 0.07)
}

// A flood of more hosts, or ports, than there are places has one place each: chance decides.
func TestChanceAmongManyHosts(t *testing.T) {
	for name, from := range map[string]func(i int) netip.AddrPort{
		"hosts": func(i int) netip.AddrPort { return at(i, 0) },
		"ports": func(i int) netip.AddrPort { return at(1, i) },
	} {
		t.Run(name, func(t *testing.T) {
			const most, newcomers, trials = 64, 32, 300
			stayed := 0
			for range trials {
				c := newCrowd(most)
				fill(c, 0, from)
				us, loser := c.Enter(0, from(5000), "us")
				requireLeft(t, loser, "there was no room")
				for i := range newcomers {
					c.Enter(0, from(1000+i), "flood")
				}
				if !us.left {
					stayed++
				}
			}
			require.InDelta(t, math.Exp(-float64(newcomers)/most), float64(stayed)/trials, 0.1)
		})
	}
}

// Exchanges among equals keep to the pace; what makes shares fairer waits for nothing.
func TestPace(t *testing.T) {
	c := New[string](Rules{Most: 8, Pace: time.Millisecond, Chance: rand.New(rand.NewPCG(1, 2)).IntN})
	now, entered := int64(0), 0
	for ; now < 100*ms; now += ms / 10 {
		if c.Room(now, at(1, 5)) {
			c.Enter(now, at(1, 5), "flood")
			entered++
		}
	}
	require.InDelta(t, 8+100, entered, 2)
	require.False(t, c.Room(now-ms/10, at(1, 5)))
	require.True(t, c.Room(now-ms/10, at(2, 5)))
	require.True(t, c.Room(now-ms/10, at(1, 6)))
}

// One address has two spellings, and a zone is not the stranger's.
func TestSpellings(t *testing.T) {
	c := newCrowd(9)
	for _, a := range []string{"10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "fe80::1"} {
		c.Enter(0, netip.AddrPortFrom(netip.MustParseAddr(a), 7), a)
	}
	require.Len(t, c.hosts, 2)
}

// Whatever happens in whatever order, the books are right and nothing is left behind.
func TestRandomCrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := New[string](Rules{Most: 20, Chance: r.IntN})
	var in []*Place[string]
	for step := range 20_000 {
		switch k := r.IntN(4); {
		case k < 2:
			p, loser := c.Enter(int64(step)*ms, at(r.IntN(5), r.IntN(3)), "")
			in = append(in, p)
			if loser != nil {
				require.True(t, loser.left)
			}
		case len(in) == 0:
		case k == 2:
			in[r.IntN(len(in))].Claims()
		default:
			i := r.IntN(len(in))
			in[i].Leave()
			in = append(in[:i], in[i+1:]...)
		}
		if c.Count() > 20 || step%100 == 0 && len(c.All()) != c.Count() {
			t.Fatalf("%d places, %d strangers", c.Count(), len(c.All()))
		}
	}
	for _, p := range in {
		p.Leave()
	}
	require.Zero(t, c.Count())
	require.Empty(t, c.hosts)
}
