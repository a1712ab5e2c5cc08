package compare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
)

func parseNets(t *testing.T, texts ...string) []Net {
	t.Helper()
	nets, err := ParseNets(texts)
	require.NoError(t, err)
	return nets
}

// What is not said of a network is as the cell's link has it.
func TestNetsAreLikeTheLink(t *testing.T) {
	l := emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}, Path: emulate.Path{Delay: 5 * time.Millisecond, Loss: emulate.Independent(0.01)}}
	p := plan(t, "tcp", "farm", 0)
	p.Links = []emulate.Link{l}
	p.Nets = parseNets(t, "", "name=slow,rate=100mbit,loss=0,delay=7ms,jitter=1ms,queue=64K,reorder=1%,duplicate=2%,corrupt=3%,down=2s+1s/9s")
	p.Counts = []int64{1, 3}
	require.NoError(t, p.Check())
	cells, _ := p.cells(everything{})
	require.Len(t, cells, 2)
	plain := emulate.Network{Name: "net0", Link: l}
	assert.Equal(t, []emulate.Network{plain}, cells[0].Networks)
	slow := emulate.Network{
		Name: "slow",
		Link: emulate.Link{
			NIC:  emulate.NIC{Rate: 100 * emulate.Mbit, Queue: emulate.Queue{Bytes: 64 << 10}},
			Path: emulate.Path{Delay: 7 * time.Millisecond, Jitter: time.Millisecond, Reorder: 0.01, Duplicate: 0.02, Corrupt: 0.03},
		},
		Down: emulate.Schedule{Outages: []emulate.Outage{{At: 2 * time.Second, For: time.Second}}, Every: 9 * time.Second},
	}
	assert.Equal(t, []emulate.Network{plain, slow, {Name: "net2", Link: l}}, cells[1].Networks)
	assert.Equal(t, [][]emulate.Network{cells[0].Networks, cells[1].Networks}, p.Wanted())
	assert.NotEqual(t, cells[0].Key(), cells[1].Key())

	p.Nets, p.Counts = nil, nil
	cells, _ = p.cells(everything{})
	require.Len(t, cells, 1)
	assert.Nil(t, cells[0].Networks, "one network is not told apart")
	assert.Equal(t, [][]emulate.Network{{{Link: l}}}, p.Wanted())
}

func TestNetsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"rte=5mbit":               `rte=5mbit: there is no "rte"; did you mean rate?`,
		"rate":                    `"rate": want a name and a value, each name once`,
		"rate=1mbit,rate=2mbit":   `"rate=2mbit": want a name and a value, each name once`,
		"rate=5":                  `rate: rate "5" has no unit`,
		"loss=120%":               `loss: loss "120%"`,
		"delay=5":                 "delay: ",
		"name=a b":                `name: "a b": want letters, digits and dashes`,
		"down=5s":                 `down: "5s": "5s" is no outage`,
		"name=x,down=2s+1s;1s+1s": "down at 1s: the outage before it lasts until 3s",
	} {
		_, err := ParseNets([]string{text})
		assert.ErrorContains(t, err, want, text)
	}
	_, err := ParseNets([]string{"name=a", "name=a"})
	require.ErrorContains(t, err, "there is a network a already")
	_, err = ParseNets(make([]string, MaxNetworks+1))
	require.ErrorContains(t, err, "17 networks: want at most 16")

	for want, change := range map[string]func(*Plan){
		"--networks 17: want 1 to 16":                func(p *Plan) { p.Counts = []int64{17} },
		"--networks: at most 1 of them, and 2":       func(p *Plan) { p.Counts, p.Nets = []int64{1}, parseNets(t, "", "") },
		"two called net1; give another name":         func(p *Plan) { p.Counts, p.Nets = []int64{2}, parseNets(t, "name=net1") },
		"--network net0: jitter 9ms is more than":    func(p *Plan) { p.Nets = parseNets(t, "jitter=9ms") },
		"--network net0: --loss 100%: nothing would": func(p *Plan) { p.Nets = parseNets(t, "loss=100%") },
	} {
		p := plan(t, "tcp", "farm", 0)
		change(&p)
		assert.ErrorContains(t, p.Check(), want)
	}
}

// Several networks are not to be had where nothing is emulated.
func TestNetsWithoutEmulation(t *testing.T) {
	p := plan(t, "tcp", "farm", 0)
	p.Counts = []int64{1, 2}
	cells, _ := p.cells(Loopback{Why: "no rights"})
	for _, c := range cells {
		assert.NotEmpty(t, c.Unable)
	}
}
