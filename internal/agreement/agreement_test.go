package agreement

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/internal/test/need"
)

// A job is processes that are joined by queues. What a process has sent before it dies may arrive or not;
// then the others hear, each at its own time, that it is gone.
type job struct {
	t       *testing.T
	random  *rand.Rand
	nodes   []*Node
	queues  [][][]Message // from, to
	dead    []bool
	heard   [][]bool // of whose death: by whom, of whom
	decided []*Value
	ids     uint64
	sent    int
}

func newJob(t *testing.T, n int, random *rand.Rand) *job {
	j := &job{t: t, random: random, dead: make([]bool, n), decided: make([]*Value, n)}
	for self := range n {
		j.queues, j.heard = append(j.queues, make([][]Message, n)), append(j.heard, make([]bool, n))
		j.nodes = append(j.nodes, New(self, n,
			func(to int, m Message) {
				j.sent++
				read, err := Decode(m.Append(nil), n)
				assert.NoError(t, err)
				if !j.heard[self][to] {
					j.queues[self][to] = append(j.queues[self][to], read)
				}
			},
			func(uint8) uint64 { j.ids++; return j.ids },
			func(v Value) {
				assert.Nil(t, j.decided[self], "it decides once")
				j.decided[self] = &v
			}))
	}
	return j
}

// deliver has one message arrive, or one process hear of a death, if there is any; it reports whether there was.
func (j *job) deliver() bool {
	n := len(j.nodes)
	at := j.random.IntN(n * n)
	for i := range n * n {
		from, to := (at+i)%(n*n)/n, (at+i)%n
		switch q := j.queues[from][to]; {
		case j.dead[to] || from == to:
		case len(q) > 0:
			j.queues[from][to] = q[1:]
			j.nodes[to].Receive(from, q[0])
			return true
		case j.dead[from] && !j.heard[to][from]:
			j.bury(from, to)
			return true
		}
	}
	return false
}

func (j *job) kill(rank int) {
	j.dead[rank] = true
	for to, q := range j.queues[rank] {
		j.queues[rank][to] = q[:j.random.IntN(len(q)+1)]
	}
}

// pass has all that one process has sent to another one arrive.
func (j *job) pass(from, to int) {
	for q := j.queues[from][to]; len(q) > 0; q = j.queues[from][to] {
		j.queues[from][to] = q[1:]
		j.nodes[to].Receive(from, q[0])
	}
}

// bury has a process hear that another one is gone.
func (j *job) bury(rank, at int) {
	j.heard[at][rank] = true
	j.nodes[at].Leave(rank)
}

func (j *job) contribute(rank int) {
	n := len(j.nodes)
	v := Value{Flags: ^uint64(1 << rank), Kind: 1, Gone: NewSet(n), Known: NewSet(n)}
	for of, heard := range j.heard[rank] {
		if heard {
			v.Gone.Add(of)
		}
	}
	j.nodes[rank].Contribute(v)
}

// run makes the agreement, with up to so many deaths.
func (j *job) run(deaths int) {
	n := len(j.nodes)
	waiting := j.random.Perm(n)
	for {
		switch {
		case deaths > 0 && j.random.IntN(6) == 0:
			deaths--
			if rank := j.random.IntN(n); j.alive() > 1 {
				j.kill(rank)
			}
		case len(waiting) > 0 && j.random.IntN(3) == 0:
			rank := waiting[0]
			waiting = waiting[1:]
			if j.dead[rank] {
				continue
			}
			j.contribute(rank)
		case !j.deliver() && len(waiting) == 0 && deaths == 0:
			return
		}
	}
}

func (j *job) alive() (n int) {
	for _, dead := range j.dead {
		if !dead {
			n++
		}
	}
	return n
}

// Whoever decides decides the same, those that are dead by now too; all that live do; and what is decided
// has the votes of all that live.
func TestAgreementIsUniform(t *testing.T) {
	for seed := range need.Seeds(t, 3000, 300_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := 1 + random.IntN(9)
		j := newJob(t, n, random)
		j.run(random.IntN(n))
		var decision *Value
		for rank := range n {
			v := j.decided[rank]
			if v == nil {
				require.True(t, j.dead[rank], "seed %d: rank %d of %d waits for ever", seed, rank, n)
				continue
			}
			if decision == nil {
				decision = v
			}
			require.Zero(t, Compare(*decision, *v), "seed %d: rank %d of %d", seed, rank, n)
			require.NotZero(t, v.ID)
			for other := range n {
				if !j.dead[other] {
					require.Zero(t, v.Flags&(1<<other), "seed %d: rank %d has no say", seed, other)
					require.False(t, v.Gone.Has(other), "seed %d: rank %d lives", seed, other)
				}
			}
		}
	}
}

// A coordinator goes when it has told some of the others what is decided. Who coordinates next hears that from one of these, and tells those that wait
// for it: because it has asked them, or because they have given it their votes as soon as they heard that the first one is gone.
func TestDecisionOfOneThatIsGone(t *testing.T) {
	for name, happens := range map[string]func(j *job){
		"who has asked": func(j *job) {
			j.queues[0][1] = nil
			j.bury(0, 1)
			j.pass(1, 2)
			j.pass(2, 1)
			j.pass(0, 3)
			j.pass(1, 3)
			j.pass(3, 1)
		},
		"who has not asked yet": func(j *job) {
			j.bury(0, 2)
			j.pass(2, 1)
			j.pass(0, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 4, rand.New(rand.NewPCG(1, 1)))
			for rank := range j.nodes {
				j.contribute(rank)
			}
			for j.decided[0] == nil {
				j.deliver()
			}
			j.dead[0], j.queues[0][2] = true, nil
			happens(j)
			for j.deliver() {
			}
			for rank := range j.nodes {
				assert.NotNil(t, j.decided[rank], "rank %d waits for ever", rank)
			}
		})
	}
}

// Without a failure an agreement takes four messages for each process beside the coordinator, and two more where that asks
// for a vote which is on its way.
func TestMessagesOfAnAgreement(t *testing.T) {
	for n := range 10 {
		j := newJob(t, n+1, rand.New(rand.NewPCG(1, uint64(n))))
		j.run(0)
		assert.GreaterOrEqual(t, j.sent, 4*n)
		assert.LessOrEqual(t, j.sent, 6*n)
	}
}

// Where two processes coordinate, since one takes the other for gone, there is one decision, and both have it.
func TestTwoCoordinators(t *testing.T) {
	for seed := range need.Seeds(t, 500, 50_000) {
		const n = 4
		j := newJob(t, n, rand.New(rand.NewPCG(seed, 2)))
		early := j.random.IntN(20)
		waiting := j.random.Perm(n)
		for step := 0; ; step++ {
			if step == early {
				j.nodes[1].Leave(0) // which lives; nothing goes from 1 to 0 any more
				j.heard[1][0] = true
			}
			if len(waiting) > 0 && j.random.IntN(3) == 0 {
				j.nodes[waiting[0]].Contribute(Value{Flags: 7, Gone: NewSet(n), Known: NewSet(n)})
				waiting = waiting[1:]
			} else if !j.deliver() && len(waiting) == 0 && step > early {
				break
			}
		}
		for rank := range n {
			if j.decided[rank] == nil && rank == 0 {
				continue // it waits for rank 1, and will hear that it is gone
			}
			require.NotNil(t, j.decided[rank], "seed %d: rank %d", seed, rank)
			if j.decided[0] != nil {
				require.Zero(t, Compare(*j.decided[0], *j.decided[rank]), "seed %d", seed)
			}
		}
	}
}

// A process that claims a ballot after which there is hardly one is not believed, and the others agree.
func TestFarBallots(t *testing.T) {
	for _, ballot := range []int64{1 << 62, 1<<62 - 1, 1 << 40} {
		j := newJob(t, 3, rand.New(rand.NewPCG(1, 1)))
		for _, kind := range []Kind{Query, Vote, Propose, Accept, Refuse} {
			j.nodes[0].Receive(2, Message{Kind: kind, Ballot: ballot, Accepted: -1})
			j.nodes[1].Receive(2, Message{Kind: kind, Ballot: ballot, Accepted: -1})
		}
		j.run(0)
		for rank := range j.nodes {
			assert.NotNil(t, j.decided[rank])
		}
	}
}

func TestDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		b := rapid.SliceOfN(rapid.Byte(), 0, Length(size)+3).Draw(t, "bytes")
		m, err := Decode(b, size)
		if err == nil {
			assert.Equal(t, b, m.Append(nil))
		}
	})
	_, err := Decode(nil, 3)
	assert.ErrorIs(t, err, errMalformed)
}

func TestOddOneOut(t *testing.T) {
	j := newJob(t, 3, rand.New(rand.NewPCG(1, 1)))
	for rank, node := range j.nodes {
		node.Contribute(Value{Kind: uint8(rank / 2), Gone: NewSet(3), Known: NewSet(3)})
	}
	for j.deliver() {
	}
	for _, v := range j.decided {
		assert.EqualValues(t, 2, v.Odd)
	}
}
