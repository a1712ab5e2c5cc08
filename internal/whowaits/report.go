// Package whowaits finds out why a job does not go on. Each rank reports what its calls wait
// for ([Report]), with the lines of the program that have made them ([Calls]). [Judge] puts the
// reports of all ranks together: it names a cycle of waits, and a wait that nothing can end.
//
// All of it happens when somebody asks. Nothing is recorded while the program runs.
package whowaits

// Any stands for every source, and every tag, of a receive.
const Any = -1

// Kinds of waits.
const (
	Receive = "receive"
	Probe   = "probe"
	Send    = "send"
	Request = "request" // of a call that goes on by itself, as a non-blocking collective one
)

// States of sends and receives.
const (
	Unmatched   = "unmatched"   // no message, or no receive, has been found
	Queued      = "queued"      // a send that waits for a connection, or for room there
	Moving      = "moving"      // the message is on its way
	Unconfirmed = "unconfirmed" // all was sent, and the peer has not said that it has it
)

// A Report is what one rank waits for. All ranks in it are ranks of the world.
type Report struct {
	Waits      []Wait    `json:"waits,omitempty"`
	Unexpected []Message `json:"unexpected,omitempty"`
	Comms      []Comm    `json:"comms,omitempty"`
	Calls      []Call    `json:"calls,omitempty"`     // that wait, and whose operation is not known
	Elsewhere  []Call    `json:"elsewhere,omitempty"` // goroutines of the program that go on by themselves, by what they do: as [Elsewhere] says
	Omitted    int       `json:"omitted,omitempty"`   // waits and messages beyond Most
	Cut        bool      `json:"cut,omitempty"`       // waits of calls are among those
	Closing    *Closing  `json:"closing,omitempty"`   // nil: World.Close waits for nobody, or was not called
}

// A Closing is what World.Close waits for.
type Closing struct {
	Ranks   []int `json:"ranks"`             // in order
	Goodbye bool  `json:"goodbye,omitempty"` // for their answers to the goodbye; else for messages under way
}

// Most is how many waits, and how many messages, a rank reports: first waits of calls, and of the messages
// that are beyond it the first and the last one of each sender.
const Most = 1000

// A Wait is an operation that is not complete.
type Wait struct {
	// ID is the operation's, and no other's in this rank.
	ID    uint64 `json:"id"`
	Kind  string `json:"kind"`
	State string `json:"state"`
	Comm  uint64 `json:"comm"`
	// Collective: it is part of a collective call, whose number among those of the communicator
	// is the tag.
	Collective bool   `json:"collective,omitempty"`
	Peer       int    `json:"peer"`          // or Any
	Tag        int    `json:"tag"`           // or Any
	Seq        uint32 `json:"seq,omitempty"` // of a send: as that of its Message
	Bytes      uint64 `json:"bytes,omitempty"`
	Blocked    bool   `json:"blocked,omitempty"` // a call waits for it
	Call       *Call  `json:"call,omitempty"`    // that one, if it was found
	Left       string `json:"left,omitempty"`    // how long until the context of such a call ends; empty: it is not known to
}

// A Message is one that has arrived, or is announced, and has found no receive.
type Message struct {
	Comm       uint64 `json:"comm"`
	Collective bool   `json:"collective,omitempty"`
	From       int    `json:"from"`
	Tag        int    `json:"tag"`
	Seq        uint32 `json:"seq"` // its place among those of its sender in the communicator
	Bytes      uint64 `json:"bytes"`
	Unmade     bool   `json:"unmade,omitempty"` // the communicator is not made in this rank, or not yet
	Taken      bool   `json:"taken,omitempty"`  // a matched probe has it, so that no other receive gets it
}

// A Comm is a communicator.
type Comm struct {
	ID      uint64 `json:"id"`
	Members Ranks  `json:"members"`
	In      string `json:"in,omitempty"` // the collective call that a goroutine is in
	Number  int64  `json:"number"`       // of the last collective call
	Pairs   []Pair `json:"pairs,omitempty"`
}

// Ranks are ranks of the world: Size from First on, unless they are listed.
type Ranks struct {
	First int     `json:"first"`
	Size  int     `json:"size"`
	List  []int32 `json:"list,omitempty"`
}

// All calls f for each rank.
func (r Ranks) All(f func(rank int)) {
	if r.List == nil {
		for rank := range r.Size {
			f(r.First + rank)
		}
	}
	for _, rank := range r.List {
		f(int(rank))
	}
}

// A Pair is how many messages have gone to a peer, and have come from it, in a communicator.
type Pair struct {
	Peer       int    `json:"peer"`
	Collective bool   `json:"collective,omitempty"`
	Sent       uint32 `json:"sent"`
	Arrived    uint32 `json:"arrived"`
}

// A Call is one that waits.
type Call struct {
	Name  string `json:"name"`            // "Comm.Recv"
	At    string `json:"at,omitempty"`    // "main.go:34 (main.work)", where the program calls it
	Since string `json:"since,omitempty"` // "3 minutes"; empty below one
	Own   bool   `json:"own,omitempty"`   // it goes on by itself: a goroutine of Strand's own waits
	// Condition is what the call waits for, as an address; nobody else needs it.
	Condition uint64 `json:"-"`
}

// byProgram reports whether a goroutine of the program waits, as far as is known.
func (w *Wait) byProgram() bool { return w.Blocked && (w.Call == nil || !w.Call.Own) }

// A Rank is what is known of a rank.
type Rank struct {
	Rank   int     `json:"rank"`
	Report *Report `json:"report,omitempty"`
	Ended  bool    `json:"ended,omitempty"`  // or has left the job
	Silent string  `json:"silent,omitempty"` // why there is no report
}
