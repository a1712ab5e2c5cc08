package lanes

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sets are the tags of programs: rows, steps, powers.
func sets(from int32) map[string][]int32 {
	all := make(map[string][]int32)
	for _, step := range []int32{1, 2, 3, 7, 8, 10, 16, 60, 64, 100, 128, 1000, 1024, 4096, 65536, 1 << 20} {
		for i := range int32(10) {
			name := fmt.Sprint("steps of ", step)
			all[name] = append(all[name], from+i*step)
		}
	}
	for k := range 10 {
		all["powers of two"] = append(all["powers of two"], 1<<k)
	}
	return all
}

func (c *Channel) all(p *Peer, tags []int32) (got []int) {
	for _, tag := range tags {
		got = append(got, int(c.Lane(tag, p, false)))
	}
	return got
}

func distinct(lanes []int, streams int) int {
	seen := make(map[int]bool)
	for _, l := range lanes {
		seen[l%streams] = true
	}
	return len(seen)
}

// Ten tags are ten lanes, and ten streams where there are ten, whatever the tags are, wherever
// they begin, in whatever order they are used, and whatever else the process sends.
func TestTenTagsAreTenLanes(t *testing.T) {
	for _, n := range []int{10, 20, 64, 1024} {
		for name, tags := range sets(0) {
			for shuffle := range uint64(4) {
				p := &Peer{Lanes: n}
				var coll, c Channel
				coll.all(p, []int32{0})
				r := rand.New(rand.NewPCG(shuffle, 1))
				if shuffle > 0 {
					r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
				}
				got := c.all(p, tags)
				assert.Equal(t, 10, distinct(got, n), "%s over %d lanes: %v", name, n, got)
				assert.Equal(t, 10, distinct(got, 10), "%s over 10 streams of %d lanes: %v", name, n, got)
			}
		}
	}
}

// Communicators of one tag each share the lanes too, and so do those whose tags come by turns.
func TestCommunicatorsShareLanes(t *testing.T) {
	p := &Peer{Lanes: 10}
	var got []int
	for range 10 {
		got = append(got, new(Channel).all(p, []int32{0})...)
	}
	assert.Equal(t, 10, distinct(got, 10), "one tag in each of ten: %v", got)

	two := [2]Channel{}
	var own [2][]int
	for tag := range int32(10) {
		for i := range two {
			own[i] = append(own[i], two[i].all(p, []int32{tag})...)
		}
	}
	for _, got := range own {
		assert.Equal(t, 10, distinct(got, 10), "by turns: %v", got)
	}
}

// Each peer's lanes are given out by themselves: the tags that one peer gets are spread over its
// lanes, whatever others get in between.
func TestPeersAreApart(t *testing.T) {
	var peers [10]Peer
	var channels [10]Channel
	var got [10][]int
	for tag := range int32(100) {
		to := tag % 10
		peers[to].Lanes = 10
		got[to] = append(got[to], channels[to].all(&peers[to], []int32{tag})...)
	}
	for _, lanes := range got {
		assert.Equal(t, 10, distinct(lanes, 10), "%v", lanes)
	}
}

// Against a model: a tag stays in its lane as long as anything is under way. What a channel keeps
// is bounded.
func TestTagsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Peer{Lanes: rapid.SampledFrom([]int{1, 2, 10, 64, 1024}).Draw(t, "lanes")}
		var channels [3]Channel
		most := rapid.SampledFrom([]int32{5, 300, 1 << 30}).Draw(t, "tags")
		var under [3]map[int32]uint16 // tags with anything under way, and their lanes
		for i := range under {
			under[i] = make(map[int32]uint16)
		}
		for range rapid.IntRange(1, 2000).Draw(t, "messages") {
			which := rapid.IntRange(0, 2).Draw(t, "channel")
			c := &channels[which]
			quiet := rapid.IntRange(0, 50).Draw(t, "quiet") == 0
			if quiet {
				for i := range under {
					clear(under[i])
				}
			}
			tag := rapid.Int32Range(0, most).Draw(t, "tag")
			lane, last := c.Last(tag)
			if !last {
				lane = c.Lane(tag, p, quiet)
			}
			require.Less(t, int(lane), p.Lanes)
			if before, found := under[which][tag]; found {
				require.Equal(t, before, lane, "tag %d has moved", tag)
			}
			under[which][tag] = lane
			require.LessOrEqual(t, c.tags, Most)
			require.LessOrEqual(t, len(c.table), 4*Most)
		}
	})
}

// A program whose tags never come again has ten lanes for ten tags as well, as long as everything
// arrives now and then; and nearly so if it does not.
func TestTagsWithoutEnd(t *testing.T) {
	p := &Peer{Lanes: 10}
	var c Channel
	for row := range int32(1000) {
		var got []int
		for i := range int32(10) {
			got = append(got, int(c.Lane(row*10+i, p, i == 0)))
		}
		require.Equal(t, 10, distinct(got, 10), "row %d: %v", row, got)
	}
	for name, tags := range sets(1 << 16) {
		var got []int
		for _, tag := range tags {
			got = append(got, int(byNumber(tag, 10)))
		}
		assert.GreaterOrEqual(t, distinct(got, 10), 4, "%s: %v", name, got)
	}
}

func TestLaneAllocatesNothing(t *testing.T) {
	p := &Peer{Lanes: 10}
	var c Channel
	for tag := range int32(10) {
		c.Lane(tag, p, false)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for tag := range int32(10) {
			c.Lane(tag, p, false)
		}
	}))
}

func BenchmarkLane(b *testing.B) {
	for _, tags := range []int32{1, 10, 256, 300} {
		b.Run(fmt.Sprintf("tags=%d", tags), func(b *testing.B) {
			p := &Peer{Lanes: 10}
			var c Channel
			tag := int32(0)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := c.Last(tag); !ok {
					c.Lane(tag, p, false)
				}
				if tag++; tag == tags {
					tag = 0
				}
			}
		})
	}
}
