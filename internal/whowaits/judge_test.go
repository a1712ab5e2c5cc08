package whowaits

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rank is one that reports waits in the world's communicator of n ranks.
func rank(n int, waits ...Wait) Rank {
	for i := range waits {
		waits[i].ID, waits[i].Blocked = uint64(i+1), true
		if waits[i].State == "" {
			waits[i].State = Unmatched
		}
	}
	return Rank{Report: &Report{Waits: waits, Comms: []Comm{{Members: Ranks{Size: n}}}}}
}

func from(peer, tag int) Wait { return Wait{Kind: Receive, Peer: peer, Tag: tag} }
func to(peer, tag int) Wait   { return Wait{Kind: Send, Peer: peer, Tag: tag} }

// untaken has a rank say that it has no receive for the first messages of another one.
func untaken(r Rank, from int) Rank {
	r.Report.Unexpected = append(r.Report.Unexpected, Message{From: from})
	return r
}

// agreeing is a wait for an agreement.
func agreeing() Wait { return Wait{Kind: Request, Peer: Any, Call: &Call{Name: "Comm.Agree"}} }

func in(r Rank, call string, number int64) Rank {
	r.Report.Comms[0].In, r.Report.Comms[0].Number = call, number
	return r
}

func sent(r Rank, pairs ...Pair) Rank {
	r.Report.Comms[0].Pairs = pairs
	return r
}

func kindsOf(found []Finding) string {
	var kinds []string
	for _, f := range found {
		kinds = append(kinds, f.Kind)
	}
	return strings.Join(kinds, " ")
}

// Ranks that wait for each other within one collective call may have given it what does not fit.
func TestCycleWithinOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		other Rank
		told  bool
	}{
		"the same":        {in(rank(2, from(0, 0)), "Reduce", 3), true},
		"another":         {in(rank(2, from(0, 0)), "Bcast", 3), false},
		"a later one":     {in(rank(2, from(0, 0)), "Reduce", 4), false},
		"none: a message": {rank(2, from(0, 0)), false},
	} {
		all := []Rank{in(rank(2, from(1, 0)), "Reduce", 3), c.other}
		for _, f := range Judge(all, all) {
			if f.Kind == "cycle" {
				assert.Equal(t, c.told, strings.Contains(f.Text, "the same call of Reduce: "), "%s: %s", name, f.Text)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	ended, silent := Rank{Ended: true}, Rank{Silent: "is stopped"}
	for name, c := range map[string]struct {
		ranks []Rank
		kinds string
	}{
		"nobody waits":                      {[]Rank{rank(2), rank(2)}, ""},
		"one computes":                      {[]Rank{rank(2, from(1, 0)), rank(2)}, ""},
		"one does not answer":               {[]Rank{rank(2, from(1, 0)), silent}, ""},
		"one waits for who does not":        {[]Rank{rank(3, from(1, 0)), rank(3, from(0, 0)), silent}, "cycle"},
		"both receive":                      {[]Rank{rank(2, from(1, 0)), rank(2, from(0, 0))}, "cycle"},
		"both send":                         {[]Rank{untaken(rank(2, to(1, 0)), 1), untaken(rank(2, to(0, 0)), 0)}, "cycle"},
		"a send whose answer is under way":  {[]Rank{rank(2, to(1, 0)), rank(2, from(0, 0))}, ""},
		"itself":                            {[]Rank{rank(1, from(0, 0))}, "cycle"},
		"a tail to a cycle":                 {[]Rank{rank(3, from(1, 0)), rank(3, from(2, 0)), rank(3, from(1, 0))}, "cycle"},
		"two cycles":                        {[]Rank{rank(4, from(1, 0)), rank(4, from(0, 0)), rank(4, from(3, 0)), rank(4, from(2, 0))}, "cycle cycle"},
		"another goroutine may go on":       {[]Rank{rank(3, from(1, 0), from(2, 0)), rank(3, from(0, 0)), rank(3)}, ""},
		"the other goroutine waits too":     {[]Rank{rank(2, from(1, 0), from(1, 1)), rank(2, from(0, 0))}, "cycle"},
		"for an ended one":                  {[]Rank{rank(2, from(1, 0)), ended}, "ended"},
		"a send to an ended one":            {[]Rank{rank(2, to(1, 0)), ended}, "ended"},
		"any source, all ended":             {[]Rank{rank(2, from(Any, Any)), ended}, "nobody"},
		"any source, one computes":          {[]Rank{rank(3, from(Any, 0)), rank(3, from(0, 0)), rank(3)}, ""},
		"a message is on its way":           {[]Rank{rank(2, from(1, 0)), sent(rank(2, from(0, 0)), Pair{Peer: 0, Sent: 1})}, ""},
		"that message has come":             {[]Rank{sent(rank(2, from(1, 0)), Pair{Peer: 1, Arrived: 1}), sent(rank(2, from(0, 0)), Pair{Peer: 0, Sent: 1})}, "cycle"},
		"a message on its way to any":       {[]Rank{rank(2, from(Any, 0)), sent(rank(2, from(Any, 0)), Pair{Peer: 0, Sent: 1})}, ""},
		"a message on its way elsewhere":    {[]Rank{rank(2, from(1, 0)), sent(rank(2, from(0, 0)), Pair{Peer: 0, Sent: 1, Collective: true})}, "cycle"},
		"a message that arrives":            {[]Rank{rank(2, from(1, 0)), rank(2, Wait{Kind: Receive, State: Moving})}, ""},
		"a send that waits for connection":  {[]Rank{rank(2, from(1, 0)), rank(2, Wait{Kind: Send, State: Queued})}, ""},
		"a call that goes on by itself":     {[]Rank{rank(2, from(1, 0)), rank(2, Wait{Kind: Request, Peer: Any})}, ""},
		"an agreement of all":               {[]Rank{rank(2, agreeing()), rank(2, agreeing())}, ""},
		"an agreement with one who may":     {[]Rank{rank(3, agreeing()), rank(3, from(2, 0)), rank(3)}, ""},
		"an agreement with one who can not": {[]Rank{rank(3, agreeing()), rank(3, agreeing()), rank(3, from(0, 0))}, "collective"},
		"an agreement without an ended one": {[]Rank{rank(2, agreeing()), ended}, ""},
		"calls that differ":                 {[]Rank{in(rank(2, from(1, 0)), "Barrier", 3), in(rank(2, from(0, 0)), "Bcast", 3)}, "collective cycle"},
		"the same call":                     {[]Rank{in(rank(2, from(1, 0)), "Bcast", 3), in(rank(2, from(0, 0)), "Bcast", 3)}, "cycle"},
		"one has not called":                {[]Rank{in(rank(2, from(1, 0)), "Bcast", 3), in(rank(2, from(0, 0)), "", 2)}, "collective cycle"},
		"one has ended instead of calling":  {[]Rank{in(rank(2, from(1, 0)), "Bcast", 3), ended}, "ended"},
		"one computes instead of calling":   {[]Rank{in(rank(2, from(1, 0)), "Bcast", 3), rank(2)}, ""},
		"older versions":                    {[]Rank{{}, {}}, ""},
	} {
		assert.Equal(t, c.kinds, kindsOf(Judge(c.ranks, c.ranks)), name)
		var b strings.Builder
		Write(&b, c.ranks, Judge(c.ranks, c.ranks), Awaited(c.ranks, c.ranks))
		assert.NotEmpty(t, b.String())
	}
}

// A call whose context will end is no part of a deadlock.
func TestContextsThatEnd(t *testing.T) {
	soon := func(w Wait) Wait {
		w.Left = "9s"
		return w
	}
	for name, c := range map[string]struct {
		ranks []Rank
		kinds string
		lasts bool
	}{
		"one of two":               {[]Rank{rank(2, soon(from(1, 0))), rank(2, from(0, 0))}, "cycle", false},
		"both":                     {[]Rank{rank(2, soon(from(1, 0))), rank(2, soon(from(0, 0)))}, "cycle", false},
		"for who has ended":        {[]Rank{rank(2, soon(from(1, 0))), {Ended: true}}, "ended", false},
		"any source":               {[]Rank{rank(2, soon(from(Any, 0))), rank(2, from(0, 0))}, "nobody", false},
		"an agreement":             {[]Rank{rank(2, soon(agreeing())), rank(2, from(0, 0))}, "collective", false},
		"beside a cycle":           {[]Rank{rank(3, from(1, 0)), rank(3, from(0, 0)), rank(3, soon(from(0, 0)))}, "cycle", true},
		"another goroutine's call": {[]Rank{rank(2, from(1, 0), soon(from(1, 1))), rank(2, from(0, 0))}, "cycle", false},
		"one computes":             {[]Rank{rank(2, soon(from(1, 0))), rank(2)}, "", false},
	} {
		found := Judge(c.ranks, c.ranks)
		assert.Equal(t, c.kinds, kindsOf(found), name)
		assert.Equal(t, c.lasts, Lasts(found), name)
		var b strings.Builder
		Write(&b, c.ranks, found, Awaited(c.ranks, c.ranks))
		assert.Contains(t, b.String(), ", until its context ends in 9s", name)
		assert.Equal(t, !c.lasts, strings.Contains(b.String(), "  => No deadlock was found"), name)
	}
}

// Who closes his world says for whom he waits, and that one is named.
func TestClosing(t *testing.T) {
	silent, computing := Rank{Rank: 2, Silent: "does not answer"}, rank(3)
	computing.Rank = 1
	for _, c := range []struct {
		closing Closing
		words   string
	}{
		{Closing{Ranks: []int{2}, Goodbye: true}, "  rank 0: closes its world, and waits for answers to its goodbye: rank 2 has not answered\n"},
		{Closing{Ranks: []int{1, 2}, Goodbye: true}, "  rank 0: closes its world, and waits for answers to its goodbye: ranks 1, 2 have not answered\n"},
		{Closing{Ranks: []int{2}}, "  rank 0: closes its world, and waits for messages under way to or from rank 2\n"},
		{Closing{Ranks: []int{2, 99, -1}}, "under way to or from ranks 2, 99, -1\n"},
	} {
		ranks := []Rank{{Report: &Report{Closing: &c.closing}}, computing, silent}
		before := []Rank{{Report: &Report{Closing: &Closing{Ranks: []int{2}}}}, computing, silent}
		var b strings.Builder
		Write(&b, ranks, Judge(before, ranks), Awaited(before, ranks))
		assert.Contains(t, b.String(), c.words)
		assert.NotContains(t, b.String(), "rank 0: waits for nothing")
		assert.Contains(t, b.String(), "  => No deadlock was found.\n  => Others wait for rank 2, which does not answer.\n")
		assert.Empty(t, Awaited([]Rank{{Report: &Report{}}, computing, silent}, ranks), "it did not wait before")
	}
}

// World.Close gives up after a time, so who waits for a rank that closes its world does not wait for ever.
func TestClosingEnds(t *testing.T) {
	closing := rank(2, to(1, 0))
	closing.Report.Closing = &Closing{Ranks: []int{1}}
	ranks := []Rank{closing, untaken(rank(2, from(0, 5)), 0)}
	found := Judge(ranks, ranks)
	assert.Equal(t, "tag cycle", kindsOf(found))
	assert.False(t, Lasts(found))
}

// Messages that a receive does not take are told of if both reports have them.
func TestMisfits(t *testing.T) {
	for name, c := range map[string]struct {
		message Message
		kinds   string
	}{
		"another tag":          {Message{From: 1, Tag: 8}, "tag cycle"},
		"another communicator": {Message{From: 1, Tag: 7, Comm: 2}, "communicator cycle"},
		"both":                 {Message{From: 1, Tag: 8, Comm: 2}, "cycle"},
		"another source":       {Message{From: 2, Tag: 8}, "cycle"},
		"a collective call's":  {Message{From: 1, Tag: 8, Collective: true}, "cycle"},
	} {
		waits := func(messages ...Message) []Rank {
			r := sent(rank(2, from(1, 7)), Pair{Peer: 1, Arrived: 1})
			r.Report.Unexpected = messages
			return []Rank{r, sent(rank(2, from(0, 7)), Pair{Peer: 0, Sent: 1})}
		}
		assert.Equal(t, c.kinds, kindsOf(Judge(waits(c.message), waits(c.message))), name)
		assert.Equal(t, "cycle", kindsOf(Judge(waits(), waits(c.message))), "%s: it has just come", name)
	}
}

// Calls that were made between the two reports do not count.
func TestJudgeIsAboutOneMoment(t *testing.T) {
	a, b := rank(2, from(1, 0)), rank(2, from(0, 0))
	later := rank(2, from(0, 0))
	later.Report.Waits[0].ID = 99
	assert.Empty(t, Judge([]Rank{a, b}, []Rank{a, later}))
	assert.Empty(t, Judge([]Rank{a, rank(2)}, []Rank{a, b}))
	assert.Empty(t, Judge(nil, []Rank{a, b}))
	assert.Len(t, Judge([]Rank{a, b}, []Rank{a, b}), 1)
}

// A rank of which a call has ended, or begun, between the two reports goes on. Nothing is known of where that goroutine was when the
// others waited, so no rank that this one may help is in a deadlock.
func TestWhoGoesOnMeanwhile(t *testing.T) {
	waits := func(ids ...uint64) Rank {
		r := rank(3)
		for i, id := range ids {
			r.Report.Waits = append(r.Report.Waits, Wait{ID: id, Kind: Receive, State: Unmatched, Peer: 1, Tag: i, Blocked: true})
		}
		return r
	}
	moving := waits(1)
	moving.Report.Waits[0].State = Moving
	ready := waits(1, 2)
	ready.Report.Waits[1].Blocked = false
	for name, c := range map[string]struct{ then, now Rank }{
		"any of two, of which one comes again and again": {waits(1, 2), waits(1, 3)},
		"a call more":                 {waits(1), waits(1, 2)},
		"a call less":                 {waits(1, 2), waits(1)},
		"a request is not waited for": {waits(1, 2), ready},
		"it has sent":                 {sent(waits(1), Pair{Peer: 2, Sent: 6}), sent(waits(1), Pair{Peer: 2, Sent: 7})},
	} {
		peer := rank(3, from(0, 0))
		peer.Rank = 1
		then, now := []Rank{c.then, peer, rank(3)}, []Rank{c.now, peer, rank(3)}
		assert.Empty(t, Judge(then, now), name)
		assert.Equal(t, "cycle", kindsOf(Judge(now, now)), "%s: and then nothing more", name)
		assert.Contains(t, Awaited(then, now), 0, name)
		var b strings.Builder
		Write(&b, now, nil, Awaited(then, now))
		assert.Contains(t, b.String(), "Others wait for rank 0, which goes on: ", name)
	}
	assert.Empty(t, Judge([]Rank{moving, rank(3, from(0, 0))}, []Rank{waits(1), rank(3, from(0, 0))}))
}

// A rank that has ended between the two reports may have sent before. What it has sent comes by the next time.
func TestWhoEndsMeanwhile(t *testing.T) {
	ended := []Rank{rank(2, from(Any, 0)), {Rank: 1, Ended: true}}
	assert.Empty(t, Judge([]Rank{rank(2, from(Any, 0)), rank(2)}, ended))
	assert.Equal(t, "nobody", kindsOf(Judge(ended, ended)))
}

// However many ranks make another call, that is told once.
func TestManyCallsThatDiffer(t *testing.T) {
	const n = 64
	ranks := make([]Rank, n)
	for i := range ranks {
		ranks[i] = in(rank(n, from((i+1)%n, 0)), []string{"Barrier", "Bcast"}[i%2], 3)
	}
	found := Judge(ranks, ranks)
	assert.Equal(t, "collective cycle", kindsOf(found))
	assert.Contains(t, found[0].Text, "ranks 0, 2, 4, 6 and 28 more are in Barrier (where is not known), ranks 1, 3, 5, 7 and 28 more are in Bcast (")
	assert.Len(t, found[0].Ranks, n)
}

// Of findings that are alike the text shows a few.
func TestManyFindings(t *testing.T) {
	ranks := make([]Rank, 64)
	for i := range ranks {
		ranks[i] = rank(64, from(Any, 0))
	}
	var b strings.Builder
	WriteFindings(&b, Judge(ranks, ranks))
	assert.Equal(t, alike, strings.Count(b.String(), "nothing is coming for rank"))
	assert.Contains(t, b.String(), "and 56 more findings of that kind (nobody)")
}

// Where no deadlock is found, it is said for whom others wait.
func TestAwaited(t *testing.T) {
	silent := Rank{Rank: 2, Silent: "is stopped"}
	leaves := rank(4)
	leaves.Report.Calls = []Call{{Name: "World.Close in Run", At: "main.go:16 (main.main)"}}
	moves := Wait{Kind: Receive, Peer: 3, State: Moving}
	for name, c := range map[string]struct {
		ranks   []Rank
		awaited []int
		text    string
	}{
		"one computes":         {[]Rank{rank(4, from(1, 0)), rank(4, from(3, 0)), rank(4), rank(4)}, []int{3}, "Others wait for rank 3, which is in no call that waits:"},
		"two do":               {[]Rank{rank(4, from(2, 0)), rank(4, from(3, 0)), rank(4), rank(4)}, []int{2, 3}, "Others wait for ranks 2, 3, which are in no call that waits:"},
		"one is silent":        {[]Rank{rank(4, from(1, 0)), rank(4, from(2, 0)), silent, rank(4)}, []int{2}, "Others wait for rank 2, which is stopped."},
		"any of two":           {[]Rank{rank(4, from(Any, 0)), rank(4, from(0, 0)), silent, rank(4)}, []int{2, 3}, "Others wait for rank 2, which is stopped."},
		"one leaves":           {[]Rank{rank(4, from(3, 0)), rank(4), rank(4), leaves}, []int{3}, "Others wait for rank 3, which waits in World.Close in Run at main.go:16 (main.main)."},
		"an older version":     {[]Rank{rank(2, from(1, 0)), {Rank: 1}}, []int{1}, "Others wait for rank 1, which says nothing of what it waits for"},
		"a message moves":      {[]Rank{rank(4, moves), rank(4), rank(4), rank(4)}, nil, ""},
		"who has ended":        {[]Rank{rank(2, from(1, 0)), {Rank: 1, Ended: true}}, nil, ""},
		"nobody waits":         {[]Rank{rank(2), rank(2)}, nil, ""},
		"a rank that is none":  {[]Rank{rank(2, from(7, 0)), rank(2)}, nil, ""},
		"all wait for another": {[]Rank{rank(2, from(1, 0)), rank(2, from(0, 0))}, nil, ""},
	} {
		assert.Equal(t, c.awaited, Awaited(c.ranks, c.ranks), name)
		var b strings.Builder
		WriteAwaited(&b, c.ranks, c.awaited)
		if c.text == "" {
			assert.Empty(t, b.String(), name)
		}
		assert.Contains(t, b.String(), c.text, name)
	}
	many := make([]Rank, 9)
	for i := range many {
		many[i] = leaves
		if i < 5 {
			many[i] = Rank{Rank: i, Silent: "is stopped"}
		}
	}
	many[0] = rank(9, from(Any, 0))
	var b strings.Builder
	Write(&b, many, nil, Awaited(many, many))
	assert.Contains(t, b.String(), "Others wait for rank 4, which is stopped.\n  => Others wait for 4 ranks more of these.\n")
}

// Who waits as Run leaves the job does so in no call of the program's.
func TestCallOfRun(t *testing.T) {
	stack := "goroutine 1 [syscall]:\n" + wait + "0xc0001, {0x9158d8, 0xc7}, {0x913ba8, 0xc0002})\n\t/s/wait.go:114 +0x31a\n" +
		"github.com/strandmp/strand/pml.(*PML).Close(0x1, ...)\n\t/s/close.go:135 +0x12b\n" +
		"github.com/strandmp/strand.(*World).Close(0x1?)\n\t/s/world.go:33 +0x71\n" +
		"github.com/strandmp/strand.Run({0x1, 0x2}, 0x3)\n\t/s/world.go:45\n" +
		"main.main()\n\t/home/me/main.go:16 +0x1"
	assert.Equal(t, []Call{{Name: "World.Close in Run", At: "main.go:16 (main.main)", Condition: 0xc0002}}, Calls([]byte(stack), 0xc0001))
}

// A function of Strand's that is compiled into one of the program has the names of both, and its file says whose it is.
func TestCallsThatAreInlined(t *testing.T) {
	_, file, _, _ := runtime.Caller(0)
	root := strings.TrimSuffix(file, "/internal/whowaits/judge_test.go")
	stack := "goroutine 1 [syscall]:\n" + wait + "0xc0001, {0x9158d8, 0xc7}, {0x913ba8, 0xc0002})\n\t/s/wait.go:114 +0x31a\n" +
		"github.com/strandmp/strand.(*commoner).Look(0x1, ...)\n\t" + root + "/collective_commons.go:135 +0x12b\n" +
		"main.work.(*Comm).Barrier.1({0x8181c0?, 0xb2c7a0?}, 0xb2c7a0?)\n\t" + root + "/collective.go:25 +0x34\n" +
		"main.work.DoublingOf[...].func2({0x8181c0?, 0xb2c7a0?}, 0xb2c7a0?)\n\t" + root + "/coll/doubling.go:25 +0x34\n" +
		"github.com/strandmp/strand.(*Comm).carry(0x1?)\n\t" + root + "/collective_courier.go:33 +0x71\n" +
		"github.com/strandmp/strand.(*Comm).Barrier(...)\n\t" + root + "/collective.go:25\n" +
		"main.work(0x3)\n\t%s +0x1\nmain.main()\n\t/home/me/main.go:2 +0x1"
	for line, place := range map[string]string{
		"/home/me/main.go:16":               "main.go:16 (main.work)",
		root + "/examples/ring/main.go:16":  "main.go:16 (main.work)",
		root + "/world_test.go:16":          "world_test.go:16 (main.work)",
		root + "/internal/test/calls.go:16": "calls.go:16 (main.work)",
	} {
		assert.Equal(t, []Call{{Name: "Comm.Barrier", At: place, Condition: 0xc0002}}, Calls([]byte(fmt.Sprintf(stack, line)), 0xc0001))
	}
}

// Goroutines of the program that go on by themselves are told of, since one of them may be what the others wait for.
func TestGoroutinesElsewhere(t *testing.T) {
	goroutine := func(state string, frames ...string) string {
		text := "goroutine 7 [" + state + "]:\n"
		for _, f := range frames {
			text += f + "\n\t/home/me/" + strings.Fields(f + " x")[0] + ".go:7 +0x1\n"
		}
		return text + "created by main.main in goroutine 1\n\t/home/me/main.go:2 +0x1"
	}
	const test = "github.com/strandmp/strand.(*Request).Test(0x1)"
	for state, c := range map[string]struct {
		frames []string
		at     string
	}{
		"running":            {[]string{"main.work(0x1)"}, "(main.work)"},
		"runnable":           {[]string{test, "example.com/my/app.(*poller).look(...)", "main.work()"}, "(app.(*poller).look)"},
		"sleep, 3 minutes":   {[]string{"time.Sleep(0x1)", "main.work(0x1)"}, "(main.work)"},
		"IO wait":            {[]string{"internal/poll.runtime_pollWait(0x1)", "net/http.(*Server).Serve(0x1)"}, ""},
		"syscall":            {[]string{"github.com/strandmp/strand/btl/tcp.(*Module).read(0x1)"}, ""},
		"chan receive":       {[]string{"main.later(0x1)"}, "(main.later)"}, // <-time.After(…), and then it sends
		"select, 2 minutes":  {[]string{"main.beat(0x1)"}, "(main.beat)"},
		"select (no cases)":  {[]string{"main.work(0x1)"}, ""},
		"sync.Mutex.Lock":    {[]string{"main.work(0x1)"}, ""},
		"syscall, 9 minutes": {[]string{wait + "0xc0001, {0x9158d8, 0xc7}, {0x913ba8, 0xc0002})", "main.work(0x1)"}, ""},
	} {
		all := Elsewhere([]byte(goroutine(state, c.frames...)))
		if c.at == "" {
			assert.Empty(t, all, state)
			continue
		}
		require.Len(t, all, 1, state)
		assert.Contains(t, all[0].At, c.at, state)
		name, _, _ := strings.Cut(state, ",")
		assert.Equal(t, name, all[0].Name)
	}
	assert.Len(t, Elsewhere([]byte(strings.Repeat(goroutine("running", "main.work()")+"\n\n", 100))), mostElsewhere)
	first := Elsewhere([]byte(strings.Repeat(goroutine("select", "main.idle()")+"\n\n", 100) + goroutine("sleep", "main.work()")))[0]
	assert.Equal(t, "sleep", first.Name, "what waits at channels hides nothing else")

	a, b := rank(2, from(1, 0)), rank(2, from(0, 0))
	b.Rank = 1
	b.Report.Elsewhere = []Call{{Name: "sleep", At: "main.go:7 (main.work)"}}
	all := []Rank{a, b}
	var text strings.Builder
	Write(&text, all, Judge(all, all), nil)
	assert.Contains(t, text.String(), "  rank 1: has a goroutine in no such call, at main.go:7 (main.work): sleep\n")
	assert.Contains(t, text.String(), "  => That holds unless a goroutine elsewhere is to send or to receive: rank 1 has one at main.go:7 (main.work): sleep.\n")
	text.Reset()
	b.Report.Elsewhere = nil
	Write(&text, all, Judge(all, all), nil)
	assert.NotContains(t, text.String(), "elsewhere")
}

func TestCalls(t *testing.T) {
	stack := func(head, wait string) string {
		return head + "\nsyscall.Syscall6(0x119)\n\t/go/asm.s:10 +0x5\n" +
			"github.com/strandmp/strand/internal/engine.(*Engine).wait(" + wait + ")\n\t/s/wait.go:114 +0x31a\n" +
			"github.com/strandmp/strand/pml.(*Context).Recv(0x1, ...)\n\t/s/receive.go:135 +0x12b\n" +
			"github.com/strandmp/strand.(*Comm).recv(0x1?, ...)\n\t/s/receive.go:33 +0x71\n" +
			"github.com/strandmp/strand.(*Comm).Recv(...)\n\t/s/receive.go:45\n" +
			"main.(*worker).step({0x9158d8?, 0x127def92c1c0?}, 0x127def874240)\n\t/home/me/work.go:22 +0x1ae\n" +
			"main.main()\n\t/home/me/main.go:2 +0x1"
	}
	all := Calls([]byte(stack("goroutine 7 [syscall, 3 minutes]:", "0xc0001, {0x9158d8, 0xc7}, {0x913ba8, 0xc0002}, {0x0, 0x0}")+"\n\n"+
		stack("goroutine 8 [syscall]:", "0xdddd, {0x9158d8, 0xc7}, {0x913ba8, 0xc0003}, {0x0, 0x0}")+"\n\n"+
		stack("goroutine 9 [IO wait]:", "...")+"\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/me/main.go:2 +0x1\n"), 0xc0001)
	assert.Equal(t, []Call{
		{Name: "Comm.Recv", At: "work.go:22 (main.(*worker).step)", Since: "3 minutes", Condition: 0xc0002},
		{Name: "Comm.Recv", At: "work.go:22 (main.(*worker).step)"},
	}, all)
	for _, garbage := range []string{"", "\n\n", wait, wait + "\n", "goroutine\n" + wait + "0xffffffffffffffffff, 0x1, 0x1, 0x1, 0x1)\nx"} {
		assert.NotPanics(t, func() { Calls([]byte(garbage), 1) }, garbage)
	}
}
