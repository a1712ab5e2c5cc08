package topology_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/topology"
)

const example = `
hosts: [a, b, c]
rate: 1gbit
queue: 256K
delay: 5ms
loss: 1%
between:
  - {hosts: [a, c], delay: 40ms}
  - {hosts: [c, a], loss: 5%/4, oneway: true}
each:
  c: {rate: 100mbit}
mtu: 1400
seed: 7
`

func TestParse(t *testing.T) {
	got, err := topology.Parse([]byte(example))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, got.Hosts)
	assert.Equal(t, 1400, got.MTU)
	assert.EqualValues(t, 7, got.Seed)
	queue := emulate.Queue{Bytes: 256 << 10}
	require.Len(t, got.Networks, 1)
	net := got.Networks[0]
	assert.Equal(t, []emulate.NIC{{Rate: emulate.Gbit, Queue: queue}, {Rate: emulate.Gbit, Queue: queue}, {Rate: 100 * emulate.Mbit, Queue: queue}}, net.NICs)
	common := emulate.Path{Delay: 5 * time.Millisecond, Loss: emulate.Independent(0.01)}
	assert.Equal(t, common, net.Path(0, 1))
	assert.Equal(t, common, net.Path(1, 2))
	far := common
	far.Delay = 40 * time.Millisecond
	assert.Equal(t, far, net.Path(0, 2))
	far.Loss = emulate.Bursts(0.05, 4)
	assert.Equal(t, far, net.Path(2, 0))
	_, uniform := net.Uniform()
	assert.False(t, uniform)
}

func TestSeveralNetworks(t *testing.T) {
	got, err := topology.Parse([]byte(several))
	require.NoError(t, err)
	require.Len(t, got.Networks, 3)
	fast, slow, other := got.Networks[0], got.Networks[1], got.Networks[2]
	assert.Equal(t, []string{"fast", "slow", "other"}, []string{fast.Name, slow.Name, other.Name})
	assert.Equal(t, []int{0, 1}, fast.On)
	assert.Equal(t, []int{0, 1, 2}, slow.On)
	link, uniform := fast.Uniform()
	assert.True(t, uniform)
	assert.Equal(t, emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}, Path: emulate.Path{Delay: 100 * time.Microsecond}}, link)
	_, uniform = slow.Uniform()
	assert.False(t, uniform)
	assert.Equal(t, 100*emulate.Mbit, slow.NICs[0].Rate)
	assert.Equal(t, 40*time.Millisecond, slow.Path(0, 2).Delay)
	assert.Equal(t, 5*time.Millisecond, slow.Path(0, 1).Delay)
	assert.Equal(t, emulate.Schedule{Outages: []emulate.Outage{{At: 2 * time.Second, For: time.Second}}, Every: 10 * time.Second}, slow.Down)
	link, uniform = other.Uniform()
	assert.True(t, uniform)
	assert.Equal(t, emulate.Link{NIC: emulate.NIC{Rate: emulate.Gbit}, Path: emulate.Path{Delay: 5 * time.Millisecond}}, link)
	assert.Empty(t, fast.Down)
}

const several = `
hosts: [a, b, c]
rate: 1gbit
delay: 5ms
networks:
  fast: {delay: 100us, hosts: [b, a]}
  slow:
    rate: 100mbit
    between: [{hosts: [a, c], delay: 40ms}]
    down: [{at: 2s, for: 1s}]
    every: 10s
  other:
`

func TestUniform(t *testing.T) {
	for text, want := range map[string]bool{
		"hosts: 3\nrate: 10mbit\ndelay: 1ms": true,
		"hosts: 1":                           true,
		"hosts: 2\nbetween: [{hosts: [host0, host1], delay: 1ms}]":               true, // there is no other
		"hosts: 2\nbetween: [{hosts: [host0, host1], delay: 1ms, oneway: true}]": false,
		"hosts: 2\neach: {host1: {rate: 1mbit}}":                                 false,
	} {
		got, err := topology.Parse([]byte(text))
		require.NoError(t, err, text)
		net := got.Networks[0]
		link, uniform := net.Uniform()
		assert.Equal(t, want, uniform, text)
		if uniform && len(got.Hosts) > 1 {
			assert.Equal(t, emulate.Link{NIC: net.NICs[0], Path: net.Path(0, 1)}, link)
		}
	}
}

// One document may be marked as one.
func TestMarkedDocument(t *testing.T) {
	x, err := topology.Parse([]byte("---\nhosts: 2\n...\n"))
	require.NoError(t, err)
	assert.Len(t, x.Hosts, 2)
}

// Errors say what is wrong, and where.
func TestBadDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "it is empty; want at least hosts: [a, b]",
		"rate: 1gbit":               "hosts: want their names, such as [a, b], or their number",
		"hosts: 0":                  `line 1: hosts: "0": want their names, such as [a, b], or their number, 1 to 256`,
		"hosts: 1000000000":         `"1000000000": want their names, such as [a, b], or their number, 1 to 256`,
		"hosts: many":               `"many": want their names`,
		"hosts: [a, a]":             `"a" is named twice`,
		"hosts: [a b]":              `"a b": want letters, digits and dashes`,
		"hosts: [-a]":               `"-a": want letters`,
		"hosts: 2\nlos: 1%":         `line 2: there is no "los"; did you mean loss?`,
		"hosts: 2\nloss: 120%":      `line 2: loss "120%": `,
		"hosts: 2\nloss: yes":       `loss "yes"`,
		"hosts: 2\nrate: 0":         `line 2: rate "0" has no unit`,
		"hosts: 2\nrate: -1mbit":    `rate "-1mbit"`,
		"hosts: 2\ndelay: 5":        `delay: "5": want a time with its unit`,
		"hosts: 2\ndelay: -5ms":     `delay: "-5ms": want a time with its unit (us, ms, s) of 0s to 1m0s`,
		"hosts: 2\njitter: 5ms":     "line 1: jitter 5ms is more than the delay 0s",
		"hosts: 2\nqueue: 0":        `queue: 0: want 1 or more frames`,
		"hosts: 2\nqueue: 0K":       `queue: 0K: want 1 or more frames`,
		"hosts: 2\nduplicate: 101%": `duplicate: "101%": want 0% to 100%`,
		"hosts: 2\nbetween: [{hosts: [host0, b]}]":                     `line 2: between: hosts: there is no host "b"`,
		"hosts: 2\nbetween: [{hosts: [host0]}]":                        "line 2: between: want two hosts",
		"hosts: 2\nbetween: [{hosts: [host0, host0]}]":                 "want two",
		"hosts: 2\nbetween: [{hosts: [host0, host1], rate: 1gbit}]":    `there is no "rate"`,
		"hosts: 2\neach: {c: {rate: 1mbit}}":                           `line 2: each: there is no "c": want some of host0, host1`,
		"hosts: 2\neach: {host1: {delay: 1ms}}":                        `there is no "delay"`,
		"hosts: [a, b":                                                 "did not find expected",
		"hosts: 2\nseed: -1":                                           `line 2: seed: "-1": want `,
		"hosts: 2\nmtu: big":                                           `line 2: mtu: "big": want `,
		"- a":                                                          "line 1: want names and values",
		"hosts: 2\nloss: 1%\nloss: 2%":                                 "line 3: loss is there twice",
		"hosts: 2\nloss: [1%]":                                         "line 2: loss: want one value",
		"hosts: 2\nbetween: 5":                                         "line 2: between: want a list",
		"a: &a [*a]\nhosts: *a":                                        "line 1: ",
		"hosts: 2\nmtu: 5":                                             `line 2: mtu: "5": want 576 to 65535 bytes`,
		"hosts: 2\neach: {host1: {queue: 99999999}}":                   "line 2: each: host1: queue of 99999999 frames: want 1 to",
		"hosts: 2\nbetween:\n- {hosts: [host0, host1], jitter: 1ms}":   "line 3: between: jitter 1ms is more than the delay 0s",
		"hosts: {a: b}":                                                "want their names",
		"hosts: 2\n---\nhosts: 3":                                      "line 2: a second document begins: want one network",
		"hosts: 2\n---\n":                                              "line 2: a second document begins",
		"hosts: 2\n---\n[":                                             "line 3: ",
		"hosts: 2\n...\nhosts: 3":                                      "line 2: did not find expected <document start>",
		"hosts: 2\nbetween: [{hosts: [host0, host1], delay: forever}]": `delay: "forever": want a time`,

		"hosts: 2\nnetworks: 2":                                         "line 2: networks: want names of networks and what each is like",
		"hosts: 2\nnetworks: {}":                                        "line 2: networks: want names of networks",
		"hosts: 2\nnetworks: {a b: {}}":                                 `line 2: networks: "a b": want letters, digits and dashes`,
		"hosts: 2\nnetworks:\n  a: {}\n  a: {}":                         `line 4: networks: a is there twice`,
		"hosts: 2\nnetworks:\n  a:\n    los: 1%":                        `line 4: networks: a: there is no "los"; did you mean loss?`,
		"hosts: 2\nnetworks:\n  a:\n    hosts: [host0, x]":              `line 4: networks: a: hosts: there is no host "x": want one of host0, host1`,
		"hosts: 2\nnetworks:\n  a:\n    hosts: [host0, host0]":          `line 4: networks: a: hosts: "host0" is named twice`,
		"hosts: 2\nnetworks:\n  a:\n    hosts: []":                      "hosts: want some of [host0 host1]",
		"hosts: 2\nnetworks:\n  a:\n    mtu: 1500":                      `line 4: networks: a: there is no "mtu"`,
		"hosts: 2\nnetworks:\n  a:\n    jitter: 1ms":                    "line 4: networks: a: jitter 1ms is more than the delay 0s",
		"hosts: 2\nnetworks:\n  a:\n    down: 2s":                       "line 4: networks: a: down: want a list",
		"hosts: 2\nnetworks:\n  a:\n    down: [{at: 2s}]":               "line 4: networks: a: down at 2s for 0s: want a start of 0 or more and a length above 0",
		"hosts: 2\nnetworks:\n  a:\n    down: [{at: soon, for: 1s}]":    `line 4: networks: a: down: at: "soon": want a time with its unit`,
		"hosts: 2\nnetworks:\n  a:\n    down: [{at: 1s, fro: 1s}]":      `line 4: networks: a: down: there is no "fro"; did you mean for?`,
		"hosts: 2\nnetworks:\n  a:\n    every: 3s":                      "every: there is no outage that could come again",
		"hosts: 2\ndown: [{at: 1s, for: 2s}, {at: 2s, for: 1s}]":        "line 1: down at 2s: the outage before it lasts until 3s",
		"hosts: 2\ndown: [{at: 1s, for: 2s}]\nevery: 2s":                "line 1: every 2s: want more than 3s",
		"hosts: 2\nnetworks:\n  a:\n    each: {host9: {rate: 1mbit}}":   `line 4: networks: a: each: there is no "host9"`,
		"hosts: 2\nnetworks:\n  a:\n    between: [{hosts: [host0, b]}]": `line 4: networks: a: between: hosts: there is no host "b"`,
	} {
		_, err := topology.Parse([]byte(text))
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

func TestLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "net.yaml")
	_, err := topology.Load(name)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(name, []byte(example), 0o600))
	_, err = topology.Load(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte("hosts: 2\nloss: 120%"), 0o600))
	_, err = topology.Load(name)
	require.ErrorContains(t, err, name)
	require.NoError(t, os.WriteFile(name, []byte(strings.Repeat("#", 2<<20)), 0o600))
	_, err = topology.Load(name)
	require.ErrorContains(t, err, "a description of a network has at most")
}

// Whatever is in a file, what is accepted can be built.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(several))
	f.Add([]byte("hosts: 2\nbetween: [{hosts: [host0, host1], delay: 1ms}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := topology.Parse(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, got.Networks)
		for _, net := range got.Networks {
			n, err := emulate.New(emulate.Config{NICs: net.NICs, Path: net.Path, Seed: got.Seed, Down: net.Down})
			require.NoError(t, err)
			require.NotNil(t, n)
			require.Len(t, net.NICs, len(got.Hosts))
			net.Uniform()
		}
	})
}
