package strandcmd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/launcher/remote"
)

func TestPlaces(t *testing.T) {
	places, err := parsePlaces([]string{"a:4,b", "[fd00::1]:2", "fd00::2", "user@c:1", "fe80::1%eth0", "[user@fd00::3]:2", "user@fd00::4", "ssh://d:22", "ssh://user@[::1]:22", "a_b.c-d"})
	require.NoError(t, err)
	assert.Equal(t, []place{{"a", 4}, {"b", 0}, {"fd00::1", 2}, {"fd00::2", 0}, {"user@c", 1}, {"fe80::1%eth0", 0}, {"user@fd00::3", 2}, {"user@fd00::4", 0}, {"ssh://d:22", 0}, {"ssh://user@[::1]:22", 0}, {"a_b.c-d", 0}}, places)
	for text, want := range map[string]string{
		"a:0":      "want 1 to 4096 slots",
		"a:x":      "want 1 to 4096 slots",
		"a:9999":   "want 1 to 4096 slots",
		"":         "want the name",
		"a,,b":     "want the name",
		"-o":       "want the name",
		"a;b":      "want the name",
		"[::1":     "want [address]",
		"a[1-3]":   "ranges such as a[1-3] are not expanded",
		"a[1-3]:4": "ranges such as a[1-3] are not expanded",
		"a]":       "want one host by its name",
		"a:4:5":    "a name has no colon",
		":::":      "this is no address of IPv6",
		"a\r":      "want the name",
		"a:1,a":    "a is there twice; a:2",
	} {
		_, err := parsePlaces([]string{text})
		assert.ErrorContains(t, err, want, text)
	}
}

func TestHostfile(t *testing.T) {
	read := func(text string) ([]place, error) {
		path := filepath.Join(t.TempDir(), "hosts")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return readHostfile(path)
	}
	places, err := read("# of Open MPI and MPICH\na slots=4 max_slots=8\nb:2 # two\n\nc\nd\nd\nd\n")
	require.NoError(t, err)
	assert.Equal(t, []place{{"a", 4}, {"b", 2}, {"c", 1}, {"d", 3}}, places, "a line is a slot, of c too")
	places, err = read("\ufeffa\nb\n")
	require.NoError(t, err)
	assert.Equal(t, []place{{"a", 0}, {"b", 0}}, places)
	for text, want := range map[string]string{
		"":               "it names no host",
		"a slots=0":      "line 1: a:0: want 1 to 4096 slots",
		"a\nb 4":         "line 2: \"4\": want a host and slots=N",
		"a,b":            "line 1: \"a,b\": want one host, without a comma",
		"n[1-3] slots=2": "line 1: \"n[1-3]\": want one host by its name",
		"a:1:2":          "line 1: \"a:1:2\": want",
		"a slots=four":   "line 1: a:four",
	} {
		_, err := read(text)
		assert.ErrorContains(t, err, want, text)
	}
}

// Each rank is somewhere, once, in order; nobody has more than its slots; who has none shares
// evenly what is left.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := make([]place, rapid.IntRange(1, 6).Draw(t, "hosts"))
		for i := range places {
			places[i].slots = rapid.IntRange(0, 5).Draw(t, "slots")
		}
		n, inTurn := rapid.IntRange(1, 30).Draw(t, "n"), rapid.Bool().Draw(t, "in turn")
		ranks, err := spread(n, places, inTurn)
		if most := allSlots(places); most > 0 && n > most {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		seen, open := make([]bool, n), []int(nil)
		for i, own := range ranks {
			require.IsIncreasing(t, append([]int{-1}, own...))
			for _, rank := range own {
				require.False(t, seen[rank])
				seen[rank] = true
			}
			if places[i].slots > 0 {
				require.LessOrEqual(t, len(own), places[i].slots)
				continue
			}
			open = append(open, len(own))
		}
		require.NotContains(t, seen, false)
		if len(open) > 0 {
			require.LessOrEqual(t, slices.Max(open)-slices.Min(open), 1, "%v", ranks)
		}
	})
}

func TestSpreadByNode(t *testing.T) {
	ranks, err := spread(5, []place{{"a", 2}, {"b", 3}}, true)
	require.NoError(t, err)
	assert.Equal(t, [][]int{{0, 2}, {1, 3, 4}}, ranks)
	ranks, err = spread(5, []place{{"a", 0}, {"b", 0}}, false)
	require.NoError(t, err)
	assert.Equal(t, [][]int{{0, 1, 2}, {3, 4}}, ranks)
}

// A host may take long to let anybody in. Who knows that says so.
func TestPatienceWithHosts(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{remote.DefaultTimeout: 20 * time.Second, 2 * time.Minute: 2 * time.Minute} {
		h := runHosts{rsh: remote.DefaultShell, timeout: timeout}
		host, err := h.host("a")
		require.NoError(t, err)
		assert.Equal(t, want, host.Patience)
	}
}
