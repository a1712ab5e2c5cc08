package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/machine"
)

// plan is a small one.
func plan(t *testing.T, variants, tasks string, losses ...float64) Plan {
	t.Helper()
	p := Plan{Ranks: 2, Runs: 2, Seed: 7, MTU: emulate.DefaultMTU, Timeout: time.Minute}
	var err error
	p.Variants, err = ParseVariants(variants, btl.Default)
	require.NoError(t, err)
	p.Tasks, err = ParseTasks(tasks, Axes{})
	require.NoError(t, err)
	for _, loss := range losses {
		p.Links = append(p.Links, emulate.Link{Path: emulate.Path{Loss: emulate.Independent(loss)}})
	}
	return p
}

// Each variant has each place in a round as often as any other.
func TestVariantsTakeTurns(t *testing.T) {
	var order []string
	for _, turn := range turns(2, 3, 3) {
		order = append(order, fmt.Sprintf("%d %d %c", turn.cell, turn.round, "ABC"[turn.variant]))
	}
	assert.Equal(t, []string{
		"0 0 A", "0 0 B", "0 0 C", "0 1 B", "0 1 C", "0 1 A", "0 2 C", "0 2 A", "0 2 B",
		"1 0 A", "1 0 B", "1 0 C", "1 1 B", "1 1 C", "1 1 A", "1 2 C", "1 2 A", "1 2 B",
	}, order)
}

func TestCells(t *testing.T) {
	p := plan(t, "tcp", "pingpong,farm", 0, 0.01)
	p.Ranks = 4
	cells, tasks := p.cells(everything{})
	require.Len(t, cells, 4)
	var got []string
	for i, c := range cells {
		assert.Equal(t, tasks[i].Spec.Name, string(c.Workload))
		got = append(got, fmt.Sprintf("%s %d %v", c.Workload, c.Ranks, c.Loss()))
	}
	assert.Equal(t, []string{"pingpong 2 0", "pingpong 2 0.01", "farm 4 0", "farm 4 0.01"}, got)
}

// Without emulation there are neither delays nor rates. Cells that differ in nothing else are
// one, and cells with loss can not run.
func TestCellsOverTheLoopback(t *testing.T) {
	p := plan(t, "tcp", "pingpong,farm", 0, 0.01, 0)
	p.Links[2].Delay = time.Millisecond
	cells, tasks := p.cells(Loopback{Why: "no rights"})
	require.Len(t, cells, 4)
	require.Len(t, tasks, 4)
	for i, c := range cells {
		if i%2 == 0 {
			assert.Nil(t, c.Link)
			assert.Empty(t, c.Unable)
		} else {
			assert.Equal(t, 0.01, c.Loss())
			assert.Equal(t, "needs an emulated network: no rights", c.Unable)
		}
	}
}

func TestSeeds(t *testing.T) {
	assert.Equal(t, seedOf(1, 0), seedOf(1, 0))
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		for round := range 10 {
			seen[seedOf(seed, round)] = true
		}
	}
	assert.Len(t, seen, 100)
}

func TestBadPlans(t *testing.T) {
	good := plan(t, "tcp,sctp", "farm", 0)
	require.NoError(t, good.Check())
	for want, change := range map[string]func(*Plan){
		"--ranks 1: want 2 to 256":                            func(p *Plan) { p.Ranks = 1 },
		"--ranks 300: want 2 to 256":                          func(p *Plan) { p.Ranks = 300 },
		"--runs 0: want 1 to":                                 func(p *Plan) { p.Runs = 0 },
		"--timeout 0s: want a time above 0":                   func(p *Plan) { p.Timeout = 0 },
		"nothing to compare":                                  func(p *Plan) { p.Variants = nil },
		"--loss 100%: nothing would get through":              func(p *Plan) { p.Links[0].Loss = emulate.Independent(1) },
		"jitter 2ms is more than the delay 1ms":               func(p *Plan) { p.Links[0].Delay, p.Links[0].Jitter = time.Millisecond, 2*time.Millisecond },
		"--ranks 2: workload burst: 2 ranks: want at least 3": func(p *Plan) { p.Tasks = plan(t, "tcp", "burst", 0).Tasks },
		"--mtu 500: want 576 to 65535":                        func(p *Plan) { p.MTU = 500 },
		"--btl: 65 variants: want at most 64":                 func(p *Plan) { p.Variants = slices.Repeat(p.Variants[:1], 65) },
		"64 workloads over 65 networks are 4160 cells: want at most 4096": func(p *Plan) {
			p.Tasks, p.Links = slices.Repeat(p.Tasks, 64), slices.Repeat(p.Links, 65)
		},
		"--runs 10000: of 7 variants these are 70000 runs in each cell: want at most 65536": func(p *Plan) {
			p.Variants, p.Runs = slices.Repeat(p.Variants[:1], 7), 10_000
		},
		"has 300 bytes: want at most 256": func(p *Plan) { p.Variants[0].Name = strings.Repeat("x", 300) },
		"-p: btl_tcp_if_include is ": func(p *Plan) {
			p.Pins.Common = map[string]string{"btl_tcp_if_include": strings.Repeat("10.0.0.0/8,", 30)}
		},
		"--buffers -1: want up to 1G, or auto": func(p *Plan) { p.Pins.Buffer = -1 },
	} {
		p := plan(t, "tcp,sctp", "farm", 0)
		change(&p)
		assert.ErrorContains(t, p.Check(), want)
	}
}

// Over a very long way connections get the time that they take.
func TestPatience(t *testing.T) {
	p := plan(t, "tcp,udp,sctp", "pingpong", 0, 0.01)
	p.Links[1].Delay = 500 * time.Millisecond
	assert.Zero(t, p.patience())
	p.Links[1].Delay = 5 * time.Second
	p.Pins.Patience = p.patience()
	for _, v := range p.Variants {
		params := p.Pins.params(v, p.MTU, btl.Default)
		assert.Equal(t, "1m40s", params["btl_"+v.BTL+"_connect_timeout"])
		assert.Equal(t, "1m40s", params["btl_"+v.BTL+"_handshake_timeout"])
		assert.Equal(t, "6m40s", params["pml_peer_timeout"], "after half of that a connection is made anew")
		assert.Equal(t, "1m40s", params["pml_close_timeout"])
		if v.BTL == "udp" {
			assert.Equal(t, "1m40s", params["btl_udp_timeout"])
		}
	}
	p.Links[1].Delay, p.Links[1].Rate = 0, 1000
	assert.Equal(t, 484480*time.Millisecond, p.patience(), "each frame takes 12 s, twice")
	p.Pins.Patience = 12 * time.Second
	params := p.Pins.params(p.Variants[1], p.MTU, btl.Default)
	assert.NotContains(t, params, "btl_udp_timeout", "it is longer by itself")
	assert.Equal(t, "12s", params["pml_close_timeout"])
	p.Pins.Common = map[string]string{"pml_close_timeout": "1s"}
	assert.Equal(t, "1s", p.Pins.params(p.Variants[0], p.MTU, btl.Default)["pml_close_timeout"])
}

func TestRoom(t *testing.T) {
	p := plan(t, "tcp", "farm(size=30000)", 0)
	require.NoError(t, p.CheckRoom(false))
	p = plan(t, "tcp", "farm(size=64M,fanout=4096,outstanding=4096)", 0)
	if _, known := machine.FreeMemory(); known {
		assert.ErrorContains(t, p.CheckRoom(false), "2 ranks of workload farm, messages of 67108864 bytes, need about")
	}
}

// Small messages take memory too where there are many of them, and so do buffers for each of many tags.
func TestRoomOfManyMessages(t *testing.T) {
	for tasks, least := range map[string]uint64{
		"farm(size=8,fanout=4096,outstanding=4096)": 4096 * 4096 * 64,
		"hol(size=64M,tags=4096,messages=4096)":     4096 * 64 << 20,
		"hol(size=8,messages=1000000000)":           1e9 * 64,
		"burst(size=8,messages=4096)":               4096 * 64,
	} {
		p := plan(t, "tcp", tasks, 0)
		assert.Greater(t, p.Tasks[0].messageBytes(), least, tasks)
	}
}

// everything is a ground that offers all that is asked for, and has nothing.
type everything struct{ Ground }

func (everything) Offer(_ string, l emulate.Link) (*emulate.Link, string) { return &l, "" }
